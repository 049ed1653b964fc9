import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackgroundSink, catchUp, verifyStore } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { Recorder } from './recorder.js';

/** Longer than a test may take: whoever waits for another process's sink fails. */
const NEVER_MS = 600_000;
const NUM_EPISODES = 8;

let store: StoreFixture;

beforeEach(async () => {
  store = await openStoreFixture();
});

afterEach(() => store?.close());

async function record(recorder: Recorder): Promise<string> {
  const { runId } = await recorder.startRun({ name: 'agents' });
  for (let n = 0; n < NUM_EPISODES; n++) {
    const episode = `episode ${n}`;
    await recorder.append(runId, [
      { type: 'episode', episode },
      { type: 'step', episode, step: 0, observation: 'o', action: 'a' },
      { type: 'end', episode },
    ]);
  }
  await recorder.endRun(runId, { reason: 'finished' });
  return runId;
}

async function numSealed(runId: string): Promise<unknown> {
  const [{ n }] = await store.client.queryRows<{ n: number }>(
    'SELECT count() AS n FROM episodes WHERE run_id = {runId:String} AND sealed',
    { params: { runId } },
  );
  return n;
}

describe('recorder of a log that no other process writes into the store', () => {
  it('ends a run without waiting for a sink', async () => {
    const { log, client } = store;
    const recorder = await Recorder.open(log, client, {
      catchUp: () => catchUp(log, client),
      storeTimeoutMs: NEVER_MS,
    });
    const runId = await record(recorder);
    expect(await numSealed(runId)).toBe(NUM_EPISODES);
    await recorder.close();
  });

  it('records while a sink in its process writes, and forgotten episodes are read from the store', async () => {
    const { log, client } = store;
    const sink = BackgroundSink.start(log, client, { lingerMs: 2, minInsertIntervalMs: 0 });
    const options = { catchUp: () => sink.caughtUp(), storeTimeoutMs: NEVER_MS, maxStateBytes: 1 };
    const recorder = await Recorder.open(log, client, options);
    const runId = await record(recorder);
    expect(await numSealed(runId)).toBe(NUM_EPISODES);
    const again = await recorder.append(runId, [{ type: 'end', episode: 'episode 7' }]);
    expect(again).toEqual({ accepted: 1, duplicates: 1 });
    await recorder.close();
    await sink.stop();
    expect(await verifyStore({ log, client })).toMatchObject({ faults: [] });
  });
});
