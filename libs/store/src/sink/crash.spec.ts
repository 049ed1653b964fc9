import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '@retrace/log';
import { bundleForChild } from '@retrace/log/contract';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { createStoreBench, FULL_USER, StoreProcess } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { findFreePort } from '@retrace/process/free-port';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { migrate } from '../schema/migrate.js';
import { verifyStore } from '../verify/verify-store.js';
import { Sink } from './sink.js';

const NUM_EPISODES = 120;
const EVENTS_PER_EPISODE = 7;
const SMALL_BATCHES = {
  lingerMs: 2,
  minInsertIntervalMs: 2,
  maxBatchRecords: 40,
  minBackoffMs: 10,
  maxBackoffMs: 100,
};

/** Delays in ms that end in the middle of something, differently each time but the same in each run. */
const KILL_DELAYS_MS = [37, 11, 83, 5, 59];

describe('Sink, when a process is killed', () => {
  let bench: Awaited<ReturnType<typeof createStoreBench>>;
  let store: StoreProcess;
  let client: StoreClient;
  let log: EventLog;
  let logPath: string;

  beforeEach(async () => {
    bench = await createStoreBench();
    // One that stays free while the store is started again.
    const port = String(await findFreePort());
    store = await StoreProcess.start(bench.module, join(bench.directory, 'store'), { STORE_PORT: port });
    client = createStoreClient({ url: store.url, ...FULL_USER });
    await migrate(client);
    logPath = join(bench.directory, 'log');
    log = await openLmdbLog({ path: logPath, createdBy: 'crash test', numTrajectoryPartitions: 2 });
  });

  afterEach(async () => {
    await store.kill();
    await client.close();
    await log.close();
    await bench.remove();
  });

  async function restartStore(): Promise<void> {
    await store.kill();
    store = await StoreProcess.start(bench.module, join(bench.directory, 'store'), {
      STORE_PORT: new URL(store.url).port,
    });
  }

  /** Appends for as long as the test goes on breaking things, slowly enough to be in the middle of it. */
  async function appendEpisodes(): Promise<void> {
    const runId = newRunId();
    await appendEvents(log, [controlEvent({ logId: log.logId, runId }, 'RunStarted')]);
    for (let ordinal = 0; ordinal < NUM_EPISODES; ordinal++) {
      const events = episodeEvents({ logId: log.logId, runId, ordinal, numSteps: EVENTS_PER_EPISODE - 2 });
      await appendEvents(log, events);
      await sleep(2);
    }
  }

  async function sinkTheRest(): Promise<void> {
    const stop = new AbortController();
    const sink = new Sink(SMALL_BATCHES);
    const running = sink.run({ log, client, signal: stop.signal });
    for (const { stream, partition } of sink.progress().partitions) {
      const endOffset = await log.endOffset(stream, partition);
      if (endOffset > 0) await sink.caughtUpTo(stream, partition, endOffset - 1);
    }
    stop.abort();
    await running;
  }

  async function expectEveryEventOnce(): Promise<void> {
    const numEvents = NUM_EPISODES * EVENTS_PER_EPISODE + 2;
    expect(await verifyStore({ log, client })).toMatchObject({
      ok: true,
      faults: [],
      numRecords: numEvents,
      numEpisodes: NUM_EPISODES,
      numSealedEpisodes: NUM_EPISODES,
      numConflicts: 0,
    });
    const [ids] = await client.queryRows<{ numIds: number }>(
      "SELECT uniqExact(event_id) AS numIds FROM events WHERE kind != '_watermark'",
    );
    expect(ids.numIds).toBe(numEvents);
    const [steps] = await client.queryRows<{ numSteps: number }>('SELECT count() AS numSteps FROM steps');
    expect(steps.numSteps).toBe(NUM_EPISODES * (EVENTS_PER_EPISODE - 2));
  }

  it('writes every event once although the store is killed during inserts', { tags: 'release' }, async () => {
    const stop = new AbortController();
    const sink = new Sink(SMALL_BATCHES);
    const running = sink.run({ log, client, signal: stop.signal });
    const appending = appendEpisodes();
    for (const delayMs of KILL_DELAYS_MS) {
      await sleep(delayMs);
      await restartStore();
    }
    await appending;
    stop.abort();
    await running;
    expect(sink.progress().partitions.some(({ lastFailure }) => lastFailure !== null)).toBe(true);
    await sinkTheRest();
    await expectEveryEventOnce();
  });

  it('writes every event once although sinks are killed during batches and run two at a time', async () => {
    const program = await bundleForChild(new URL('./sink-process.contract.ts', import.meta.url));
    const startSink = () =>
      fork(program.path, [logPath, store.url, FULL_USER.username, FULL_USER.password], { stdio: 'inherit' });
    const appending = appendEpisodes();
    for (const delayMs of KILL_DELAYS_MS) {
      const sinks = [startSink(), startSink()];
      await Promise.all(sinks.map((sink) => once(sink, 'message')));
      await sleep(delayMs);
      const exits = sinks.map((sink) => once(sink, 'exit'));
      for (const sink of sinks) sink.kill('SIGKILL');
      await Promise.all(exits);
    }
    await appending;
    await sinkTheRest();
    await program.remove();
    await expectEveryEventOnce();
  });
});
