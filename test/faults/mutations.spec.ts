import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { FaultBench } from '../support/fault-bench.mjs';
import { Strace, whyNoStrace } from '../support/strace.mjs';

const noStrace = whyNoStrace();
const skipped = noStrace === null ? '' : ` (skipped, because ${noStrace})`;
/** Episodes fall on one of two partitions by chance; this many leave neither empty. */
const EPISODES_FOR_BOTH_PARTITIONS = 24;

/** Tests the tests: sink designs that are known to lose data, under faults of the matrix. */
describe('the audit of the fault matrix', () => {
  let bench: FaultBench;
  afterEach(() => bench.close());

  async function goOnAndAudit(): Promise<readonly string[]> {
    await bench.restartStore();
    await bench.appendEpisodes(EPISODES_FOR_BOTH_PARTITIONS);
    await bench.untilVisible();
    return (await bench.audit()).faults;
  }

  it.skipIf(noStrace !== null).each([
    { mutation: undefined, expected: [] },
    {
      mutation: 'token-deduplication' as const,
      expected: [/^ROW_MISSING/, /acknowledged events are not in the store/],
    },
  ])(
    `audit: finds exactly the faults of a sink with mutation $mutation when the store dies between deduplication token and part${skipped}`,
    async ({ mutation, expected }) => {
      bench = await FaultBench.open();
      await bench.client.command(
        'ALTER TABLE events MODIFY SETTING non_replicated_deduplication_window = 1000',
      );
      await bench.startSink({ mutation });
      await bench.appendEpisodes(EPISODES_FOR_BOTH_PARTITIONS);
      await bench.untilVisible();
      const strace = await Strace.attach(bench.store.pid, ['rename'], 'signal=SIGKILL:when=1');
      await bench.appendEpisodes(2);
      await strace.detachAfter(bench.store.ended, 10_000);
      expect(await bench.store.ended).toBe('SIGKILL');
      expectFaults(await goOnAndAudit(), expected);
    },
  );

  it.each([
    { mutation: undefined, expected: [] },
    {
      mutation: 'cursor-before-insert' as const,
      expected: [/^ROW_MISSING/, /acknowledged events are not in the store/],
    },
  ])(
    'audit: finds exactly the faults of a sink with mutation $mutation when the store dies between cursor and insert',
    async ({ mutation, expected }) => {
      bench = await FaultBench.open();
      await bench.startSink({ mutation });
      await bench.appendEpisodes(EPISODES_FOR_BOTH_PARTITIONS);
      await bench.untilVisible();
      await bench.store.end();
      await bench.appendEpisodes(2);
      await sleep(300);
      expectFaults(await goOnAndAudit(), expected);
    },
  );
});

function expectFaults(faults: readonly string[], expected: readonly RegExp[]): void {
  if (expected.length === 0) expect(faults).toEqual([]);
  for (const pattern of expected) expect(faults).toContainEqual(expect.stringMatching(pattern));
}
