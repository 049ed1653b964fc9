/**
 * Text from outside (an environment, a user) as tokens of plain text, whatever it spells.
 *
 * A tokenizer reads `<|im_end|>` as one token anywhere in a text, so an observation that spells it would end the user's turn
 * and speak for somebody else. Here each such spelling is broken after its first character, and the pieces are tokenized one
 * by one: the same characters, but no markers. Text without markers is tokenized whole.
 */
import type { OriginSpan } from '@retrace/jinja';
import type { Tokenizer } from './tokenizer.js';

/** The agent's own text: of its markers only special tokens are plain text; `<tool_call>` and `<think>` are what the model wrote. */
export const AGENT = 1;
/** Text of users, tools and others: all its markers are plain text. */
export const OUTSIDE = 2;

/**
 * Tokenizes a text whose markers are plain text.
 *
 * @throws PolicyError as `Tokenizer.encode` does
 */
export function encodePlain(tokenizer: Tokenizer, text: string): Int32Array {
  return encodeSpans(tokenizer, { text, spans: [{ start: 0, end: text.length, origin: OUTSIDE }] });
}

/** A text with the parts that the template did not write. */
export interface TextWithSpans {
  readonly text: string;
  readonly spans: readonly OriginSpan[];
}

/**
 * Tokenizes a text in which a marker is a token only where its origin allows it: one of which a part is from outside is plain text.
 *
 * @throws PolicyError as `Tokenizer.encode` does
 */
export function encodeSpans(tokenizer: Tokenizer, { text, spans }: TextWithSpans): Int32Array {
  const breaks = new Set<number>();
  if (spans.length > 0)
    for (const marker of tokenizer.markers) {
      for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1)) {
        if (isPlain(tokenizer, marker, originOfPart(spans, at, at + marker.length))) breaks.add(at + 1);
      }
    }
  if (breaks.size === 0) return tokenizer.encode(text);
  const ends = [...breaks].sort((a, b) => a - b);
  const pieces = [...ends, text.length].map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end));
  return Int32Array.from(pieces.flatMap((piece) => [...tokenizer.encode(piece)]));
}

function isPlain({ specialMarkers }: Tokenizer, marker: string, origin: number): boolean {
  return origin === OUTSIDE || (origin === AGENT && specialMarkers.has(marker));
}

/** The highest origin of the spans that a part of the text touches; 0 where it is the template's alone. */
function originOfPart(spans: readonly OriginSpan[], start: number, end: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end <= start) low = middle + 1;
    else high = middle;
  }
  let origin = 0;
  for (let n = low; n < spans.length && spans[n].start < end; n++) origin = Math.max(origin, spans[n].origin);
  return origin;
}
