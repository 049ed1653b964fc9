import { setTimeout as sleep } from 'node:timers/promises';

/**
 * CPU time of this process over wall time, in the least of several stretches: polling shows in every one of them, a garbage collection or
 * what the test runner does in one.
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
