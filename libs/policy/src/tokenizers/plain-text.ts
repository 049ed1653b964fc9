/**
 * Text from outside (an environment, a user) as tokens of plain text, whatever it spells.
 *
 * A tokenizer reads `<|im_end|>` as one token wherever it stands, so an observation that spells it would end the user's turn and
 * speak for somebody else. Here each such spelling is broken after its first character, and the pieces are tokenized one by one:
 * the same characters, none of the tokenizer's markers. Text without markers is tokenized whole, as ever.
 */
import type { Tokenizer } from './tokenizer.js';

/**
 * The tokens of a text in which markers are plain text.
 *
 * @throws the errors of `Tokenizer.encode`
 */
export function encodePlain(tokenizer: Tokenizer, text: string): Int32Array {
  const broken = breakMarkers(tokenizer, text);
  return encodeBroken(tokenizer, broken);
}

/** A text that may be put between markers, and what stands where markers were broken. */
export interface BrokenText {
  readonly text: string;
  /** Occurs in `text` only where a marker was broken; null if none was. */
  readonly breakMark: string | null;
}

export function breakMarkers({ markers }: Tokenizer, text: string): BrokenText {
  const breaks = new Set<number>();
  for (const marker of markers) {
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1)) breaks.add(at + 1);
  }
  if (breaks.size === 0) return { text, breakMark: null };
  const breakMark = absentFrom(text);
  const ends = [...breaks].sort((a, b) => a - b);
  const pieces = [...ends, text.length].map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1], end));
  return { text: pieces.join(breakMark), breakMark };
}

/** The tokens of a text with broken markers in it; markers that are whole are tokens. */
export function encodeBroken(tokenizer: Tokenizer, { text, breakMark }: BrokenText): Int32Array {
  if (breakMark === null) return tokenizer.encode(text);
  return Int32Array.from(text.split(breakMark).flatMap((piece) => [...tokenizer.encode(piece)]));
}

/** Noncharacters of Unicode around a number, the first that the text doesn't have. */
function absentFrom(text: string): string {
  for (let n = 0; ; n++) {
    const mark = `\uFDD0${n}\uFDD1`;
    if (!text.includes(mark)) return mark;
  }
}
