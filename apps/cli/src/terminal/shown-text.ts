import stringWidth from 'string-width';

/** Characters that could hide, reorder or rewrite what a terminal shows; ends of lines and joiners of emoji are not among them. */
const UNPRINTABLE = /(?![\n\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Writes characters that a terminal would obey as escapes, such as `\u{1b}`. */
export function shownText(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** Columns that a terminal takes for a text: two for CJK and emoji. */
export function measureWidth(text: string): number {
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** Cuts a text to so many columns of a terminal, the last of them `…` where something is left out. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && measureWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += measureWidth(segment);
    if (used > width) return withMark(cut, width);
    cut += segment;
  }
  return cut;
}

function withMark(text: string, width: number): string {
  const parts = [...graphemes.segment(text)].map(({ segment }) => segment);
  while (parts.length > 0 && measureWidth(parts.join('')) > width - 1) parts.pop();
  return `${parts.join('')}…`;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
