const MISSING = '–';

/** Formats a number with `digits` significant digits and no trailing zeros; a missing one is a dash. */
export function formatNumber(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  if (value === 0) return '0';
  const magnitude = Math.abs(value);
  if (magnitude >= 10_000) return formatCompact(value);
  if (magnitude < 1e-3)
    return withMinus(Number(value.toPrecision(Math.max(1, digits - 1))).toExponential()).replace('e-', 'e−');
  return withMinus(
    Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(magnitude + 1))))).toString(),
  );
}

/** Formats 12,345 as 12.3k and 1,234,567 as 1.23M, with `digits` significant digits. */
export function formatCompact(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const units: readonly [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const unit = units.find(([size]) => Math.abs(value) >= size);
  if (!unit) return withMinus(Number(value.toPrecision(digits)).toString());
  return withMinus(`${Number((value / unit[0]).toPrecision(digits))}${unit[1]}`);
}

/** Formats 0.913 as 91.3%. */
export function formatPercent(fraction: number | null | undefined, digits = 1): string {
  if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return MISSING;
  return `${withMinus((fraction * 100).toFixed(digits))}%`;
}

/** Formats US dollars with as many digits as a small cost needs: $1.25, $0.0042. */
export function formatCost(usd: number): string {
  const digits = Math.abs(usd) >= 0.01 || usd === 0 ? 2 : 4;
  return withMinus(
    usd.toLocaleString('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: digits }),
  );
}

/** Formats a whole number with commas between thousands. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  return withMinus(Math.round(value).toLocaleString('en-US'));
}

function withMinus(text: string): string {
  return text.replace(/^-/, '−');
}
