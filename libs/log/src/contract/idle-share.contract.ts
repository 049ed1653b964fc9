import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Measures the CPU time of this process over wall time in several intervals, and returns the smallest share: polling costs time in each
 * interval, but garbage collection and the test runner only in some.
 */
export async function leastShareOfCore({
  stretches,
  stretchMs,
}: {
  readonly stretches: number;
  readonly stretchMs: number;
}): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < stretches; i++) {
    const before = process.cpuUsage();
    await sleep(stretchMs);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000 / stretchMs);
  }
  return least;
}
