import { fileURLToPath } from 'node:url';
import { choosePartition } from '@retrace/log';
import { type AnyEvent } from '@retrace/trajectory';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultBench } from '../support/fault-bench.mjs';

const CLOCK_JUMPS = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../support/clock-jumps.mjs', import.meta.url))}`,
};

const SLEEP_MS = 1_500;

let bench: FaultBench;
beforeEach(async () => {
  bench = await FaultBench.open();
});
afterEach(() => bench.close());

describe('producers', () => {
  it(
    'producers: appending another producer’s events again, later and in another order, changes nothing',
    { tags: 'release' },
    async () => {
      await bench.startSink();
      const episodes = Array.from({ length: 12 }, () => bench.newEpisode());
      const first = (async () => {
        for (const events of episodes) await bench.append(events);
      })();
      const eventByEvent = (async () => {
        for (const events of [...episodes].reverse()) for (const event of events) await bench.append([event]);
      })();
      const backwards = (async () => {
        for (const events of episodes) for (const event of [...events].reverse()) await bench.append([event]);
      })();
      await Promise.all([first, eventByEvent, backwards]);
      await bench.untilVisible();
      const audit = await bench.audit();
      expect(audit).toMatchObject({ faults: [], numSealedEpisodes: 12, numConflicts: 0 });
      // RunStarted, and a start, 3 steps and an end for each episode.
      expect(audit.numEvents).toBe(1 + 12 * 5);
    },
  );

  it(
    'producers: of two contradicting events the first in the log counts, the other is a conflict',
    { tags: 'release' },
    async () => {
      await bench.startSink();
      for (let i = 0; i < 6; i += 1) {
        const events = bench.newEpisode();
        const others = events.map((event) => withOtherAction(event));
        await bench.append(events.slice(0, 3));
        await bench.append(others);
        await bench.append(events.slice(3));
      }
      await bench.untilVisible();
      const audit = await bench.audit();
      // Steps 0 and 1 of the other producer came second and are conflicts; its step 2 came first, so the first producer's is the conflict.
      // Starts and ends are equal.
      expect(audit).toMatchObject({ faults: [], numConflicts: 6 * 3, numSealedEpisodes: 6 });
    },
  );

  it(
    'producers: bytes that are no event do not harm the events around them',
    { tags: 'release' },
    async () => {
      await bench.startSink();
      for (let i = 0; i < 6; i += 1) {
        const events = bench.newEpisode();
        const { runId, episodeId } = events[0];
        const partition = choosePartition(runId, episodeId, bench.log.numPartitions('trajectories'));
        await bench.append(events.slice(0, 2));
        await bench.log.append('trajectories', partition, [Uint8Array.of(i, 2, 3)]);
        await bench.append(events.slice(2));
      }
      await bench.untilVisible();
      expect(await bench.audit()).toMatchObject({ faults: [], numSealedEpisodes: 6 });
      const [{ n }] = await bench.client.queryRows<{ n: number }>('SELECT count() AS n FROM dead_letters');
      expect(n).toBe(6);
    },
  );
});

describe('sinks', () => {
  it(
    'sinks: two on the same partitions double nothing, although one is suspended while the other works',
    { tags: 'release' },
    async () => {
      const sleeper = await bench.startSink();
      await bench.startSink();
      for (let i = 0; i < 4; i += 1) {
        const appending = bench.appendEpisodes(8, { pauseMs: 5 });
        await sleep(20);
        sleeper.child.kill('SIGSTOP');
        // If it holds the write lock of the log, all other processes wait until it wakes.
        await Promise.race([appending.then(() => bench.untilVisible()), sleep(SLEEP_MS)]);
        sleeper.child.kill('SIGCONT');
        await appending;
      }
      await bench.appendEpisodes(4);
      await bench.untilVisible();
      expect(await bench.audit()).toMatchObject({ faults: [], numSealedEpisodes: 36 });
    },
  );

  it('sinks: starting again at the first record doubles nothing', { tags: 'release' }, async () => {
    await bench.startSink();
    await bench.appendEpisodes(10);
    await bench.untilVisible();
    const [sink] = bench.sinks.splice(0);
    await sink.end();
    await bench.startSink({ mutation: 'position-forgotten' });
    await bench.appendEpisodes(4);
    await bench.untilVisible();
    await sleep(500);
    const audit = await bench.audit();
    expect(audit).toMatchObject({ faults: [], numSealedEpisodes: 14 });
    expect(audit.numRepeatedRows).toBeGreaterThan(40);
    await bench.client.command('OPTIMIZE TABLE events FINAL');
    expect(await bench.audit()).toMatchObject({ faults: [], numRepeatedRows: 0 });
  });

  it(
    'sinks: bring everything once when the wall clocks of producers, sinks and store jump',
    { tags: 'release' },
    async () => {
      await bench.restartStore({ environment: CLOCK_JUMPS });
      await bench.startSink({}, { environment: CLOCK_JUMPS });
      const nowUs = Date.now() * 1000;
      for (let i = 0; i < 25; i += 1) {
        await bench.appendEpisodes(2, { occurredAtUs: nowUs - i * 3_600_000_000 });
        await sleep(100);
        if (i === 12) await bench.restartStore({ environment: CLOCK_JUMPS });
      }
      await bench.untilVisible();
      expect(await bench.audit()).toMatchObject({ faults: [], numSealedEpisodes: 50 });
      expect(bench.sinks[0].child.exitCode).toBeNull();
    },
  );
});

function withOtherAction(event: AnyEvent): AnyEvent {
  if (event.kind !== 'StepRecorded') return event;
  return { ...event, payload: { ...event.payload, action: 'the other' } };
}
