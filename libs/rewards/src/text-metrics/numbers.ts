import { lastBoxed } from './boxed.js';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * The number that an answer states, or null when it states none or several. Understands `\boxed{…}` (the last one),
 * `\frac{a}{b}`, a/b, percent, thousands separators, currency signs, scientific notation and LaTeX spacing.
 */
export function parseNumber(text: string): number | null {
  let rest = lastBoxed(text) ?? text;
  rest = rest
    .replace(/\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '($1)/($2)')
    .replace(/\\(?:left|right|[,;:! ])/g, '')
    .replace(/\\([%$])/g, '$1')
    .replace(/[$€£\s()]/g, '')
    .replace(/(\d),(?=\d{3}(?!\d))/g, '$1')
    .replace(/\.$/, '');
  const isPercent = rest.endsWith('%');
  if (isPercent) rest = rest.slice(0, -1);
  const parts = rest.split('/');
  if (parts.length > 2 || !parts.every((part) => NUMBER.test(part))) return null;
  const value = parts.length === 1 ? Number(parts[0]) : Number(parts[0]) / Number(parts[1]);
  if (!Number.isFinite(value)) return null;
  return isPercent ? value / 100 : value;
}

/** Whether two numbers agree: |a − b| ≤ absolute + relative·|b|. */
export function numbersAgree(
  value: number,
  reference: number,
  tolerance: { readonly absolute: number; readonly relative: number },
): boolean {
  return Math.abs(value - reference) <= tolerance.absolute + tolerance.relative * Math.abs(reference);
}
