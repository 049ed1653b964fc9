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

export function breakMarkers(tokenizer: Tokenizer, text: string): BrokenText {
  const { texts, breakMark } = breakAllMarkers(tokenizer, [text]);
  return { text: texts[0], breakMark };
}

/** Several texts with broken markers, which share the mark of the breaks. */
export function breakAllMarkers(
  { markers }: Tokenizer,
  texts: readonly string[],
): { readonly texts: readonly string[]; readonly breakMark: string | null } {
  const isBroken = texts.some((text) => markers.some((marker) => text.includes(marker)));
  if (!isBroken) return { texts, breakMark: null };
  const breakMark = absentMark((mark) => texts.some((text) => text.includes(mark)));
  return { texts: texts.map((text) => withBreaks(text, markers, breakMark)), breakMark };
}

/** Puts `breakMark` after the first character of each marker. */
export function withBreaks(text: string, markers: readonly string[], breakMark: string): string {
  const breaks = new Set<number>();
  for (const marker of markers) {
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1)) breaks.add(at + 1);
  }
  const ends = [...breaks].sort((a, b) => a - b);
  return [...ends, text.length].map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1], end)).join(breakMark);
}

/** Tokenizes a text in which only whole markers are tokens. */
export function encodeBroken(tokenizer: Tokenizer, { text, breakMark }: BrokenText): Int32Array {
  if (breakMark === null) return tokenizer.encode(text);
  return Int32Array.from(text.split(breakMark).flatMap((piece) => [...tokenizer.encode(piece)]));
}

/** The first mark, a number between two noncharacters of Unicode, that is used nowhere. */
export function absentMark(isUsed: (mark: string) => boolean): string {
  for (let n = 0; ; n++) {
    const mark = `\uFDD0${n}\uFDD1`;
    if (!isUsed(mark)) return mark;
  }
}
