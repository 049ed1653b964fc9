/**
 * Text from outside (an environment, a user) as tokens of plain text, whatever it spells.
 *
 * A tokenizer reads `<|im_end|>` as one token anywhere in a text, so an observation that spells it would end the user's turn
 * and speak for somebody else. Here each such spelling is broken after its first character, and the pieces are tokenized one
 * by one: the same characters, but no markers. Text without markers is tokenized whole.
 */
import type { Tokenizer } from './tokenizer.js';

/**
 * Tokenizes a text whose markers are plain text.
 *
 * @throws PolicyError as `Tokenizer.encode` does
 */
export function encodePlain(tokenizer: Tokenizer, text: string): Int32Array {
  return encodeBroken(tokenizer, breakMarkers(tokenizer, text));
}

/** A text with broken markers, which may be put between whole ones. */
export interface BrokenText {
  readonly text: string;
  /** Marks in `text` the places where markers were broken; null if there are none. */
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

/** Tokenizes a text in which only whole markers are tokens. */
export function encodeBroken(tokenizer: Tokenizer, { text, breakMark }: BrokenText): Int32Array {
  if (breakMark === null) return tokenizer.encode(text);
  return Int32Array.from(text.split(breakMark).flatMap((piece) => [...tokenizer.encode(piece)]));
}

/** The first mark, a number between two noncharacters of Unicode, that the text does not contain. */
function absentFrom(text: string): string {
  for (let n = 0; ; n++) {
    const mark = `\uFDD0${n}\uFDD1`;
    if (!text.includes(mark)) return mark;
  }
}
