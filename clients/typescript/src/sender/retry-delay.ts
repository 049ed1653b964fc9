const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/**
 * Time until attempt `n + 1` after `n` failures in a row: between half and the whole of 250 ms · 2ⁿ⁻¹, at most 30 s, so that clients
 * which failed together don't come back together; never less than the server asked for.
 *
 * @param random between 0 and 1
 */
export function retryDelayMs(numFailures: number, retryAfterMs: number | null, random: number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(30, numFailures - 1));
  return Math.max(retryAfterMs ?? 0, ceiling * (0.5 + random / 2));
}
