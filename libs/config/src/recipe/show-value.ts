const MAX_LENGTH = 80;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A value as JSON for a message: cut when it is long, with escapes for what a terminal does not show as it is. */
export function showValue(value: unknown): string {
  return showText(JSON.stringify(value) ?? 'undefined');
}

/** A text for a message, as `showValue` shows one, without quotes. */
export function showText(text: string): string {
  const cut =
    text.length > MAX_LENGTH
      ? `${text.slice(0, MAX_LENGTH)}… (${text.length.toLocaleString('en')} characters)`
      : text;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}
