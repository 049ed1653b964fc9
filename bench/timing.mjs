/** Times of calls, and what stands for many of them. */

/** Milliseconds until `work` has settled. */
export async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Of n values in ascending order, the one at floor(q · n), counted from 0, so that a share `q` come before it; NaN of none. */
export function percentile(values, q) {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(q * ascending.length))] ?? Number.NaN;
}

export const median = (values) => percentile(values, 0.5);

/** The JSON that an address answers with. @throws Error unless the status is 2xx */
export async function getJson(url, timeoutMs = 120_000) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`GET ${url} returned ${response.status}; expected 200`);
  return response.json();
}
