import { lastBoxed } from './boxed.js';

/**
 * Whether two answers in LaTeX are the same text in the normal form of the MATH benchmark (Hendrycks et al.,
 * arXiv:2103.03874), of the content of their last `\boxed{…}` where they have one. No algebra: `x + 1` and `1 + x` differ.
 */
export function mathAnswersAgree(answer: string, reference: string): boolean {
  return (
    normalizeMathAnswer(lastBoxed(answer) ?? answer) ===
    normalizeMathAnswer(lastBoxed(reference) ?? reference)
  );
}

/**
 * Reduces several spellings to one: sizes of brackets and fractions, spaces, degrees, dollar and percent
 * signs, units behind a number, `x =` in front, missing braces of `\frac` and `\sqrt`, a leading zero, `a/b` and 0.5.
 */
export function normalizeMathAnswer(text: string): string {
  let form = text
    .replaceAll('\n', '')
    .replaceAll('\\!', '')
    .replaceAll('\\\\', '\\')
    .replaceAll('tfrac', 'frac')
    .replaceAll('dfrac', 'frac')
    .replaceAll('\\left', '')
    .replaceAll('\\right', '')
    .replaceAll('^{\\circ}', '')
    .replaceAll('^\\circ', '')
    .replaceAll('\\$', '');
  form = withoutUnit(form).replaceAll('\\%', '').replaceAll(' .', ' 0.').replaceAll('{.', '{0.');
  if (form.startsWith('.')) form = `0${form}`;
  form = withBraces(withoutName(form).replaceAll(' ', ''));
  if (form === '0.5') return '\\frac{1}{2}';
  const ratio = /^(-?\d+)\/(-?\d+)$/.exec(form);
  return ratio !== null && isPlainInteger(ratio[1]) && isPlainInteger(ratio[2])
    ? `\\frac{${ratio[1]}}{${ratio[2]}}`
    : form;
}

/** Reads `5\text{ cm}` as 5: words after the number are its unit. */
function withoutUnit(text: string): string {
  const at = text.indexOf('\\text{ ');
  return at === -1 || at !== text.lastIndexOf('\\text{ ') ? text : text.slice(0, at);
}

/** Reads `k = 5` as 5, where the name has at most two characters. */
function withoutName(text: string): string {
  const sides = text.split('=');
  return sides.length === 2 && sides[0].length <= 2 ? sides[1] : text;
}

/** `\sqrt3` as `\sqrt{3}`, `\frac12` as `\frac{1}{2}`, `\frac1{72}` as `\frac{1}{72}`. */
function withBraces(text: string): string {
  return text
    .replace(/\\sqrt([^{])/g, '\\sqrt{$1}')
    .replace(/\\frac([^{])([^{])/g, '\\frac{$1}{$2}')
    .replace(/\\frac([^{])\{/g, '\\frac{$1}{');
}

function isPlainInteger(text: string): boolean {
  return String(Number(text)) === text;
}
