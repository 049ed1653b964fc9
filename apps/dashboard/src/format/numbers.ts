const NOTHING = '–';

/** A number at `digits` significant digits, without trailing zeros; a dash where there is none. */
export function formatNumber(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  if (value === 0) return '0';
  const magnitude = Math.abs(value);
  if (magnitude >= 10_000) return formatCompact(value);
  if (magnitude < 1e-3)
    return value
      .toExponential(Math.max(0, digits - 2))
      .replace('e-', 'e−')
      .replace(/^-/, '−');
  return withMinus(
    Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(magnitude + 1))))).toString(),
  );
}

/** 12,345 as 12.3k, 1,234,567 as 1.23M. */
export function formatCompact(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const units: readonly [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const unit = units.find(([size]) => Math.abs(value) >= size);
  if (!unit) return withMinus(Number(value.toPrecision(3)).toString());
  return withMinus(`${Number((value / unit[0]).toPrecision(3))}${unit[1]}`);
}

/** 0.913 as 91.3 %. */
export function formatPercent(fraction: number | null | undefined, digits = 1): string {
  if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return NOTHING;
  return `${withMinus((fraction * 100).toFixed(digits))} %`;
}

/** A whole number with thin group separators. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  return withMinus(Math.round(value).toLocaleString('en-US'));
}

function withMinus(text: string): string {
  return text.replace(/^-/, '−');
}
