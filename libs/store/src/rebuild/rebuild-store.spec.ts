import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient } from '../client/store-client.js';
import { Sink } from '../sink/sink.js';
import { readRunHashes } from '../verify/row-hash.js';
import { verifyStore } from '../verify/verify-store.js';
import { type RebuildOptions, rebuildStore } from './rebuild-store.js';

describe('rebuildStore', () => {
  let store: StoreFixture;
  const runIds = [newRunId(), newRunId()];

  beforeEach(async () => {
    store = await openStoreFixture();
    for (const runId of runIds) {
      const ids = { logId: store.log.logId, runId };
      await appendEvents(store.log, [controlEvent(ids, 'RunStarted'), controlEvent(ids, 'MetricsLogged')]);
      for (let ordinal = 0; ordinal < 5; ordinal++) {
        await appendEvents(store.log, episodeEvents({ ...ids, ordinal }));
      }
    }
    await store.log.append('control', 0, [Uint8Array.of(1)]);
    await catchUp(store.log, store.client);
  });

  afterEach(() => store.close());

  const openClient = (database: string) =>
    createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });

  function rebuild(options: Partial<RebuildOptions> = {}) {
    return rebuildStore({ log: store.log, client: store.client, openClient, ...options });
  }

  const verify = () => verifyStore({ log: store.log, client: store.client });
  const damage = (condition: string) =>
    store.client.command(`DELETE FROM events WHERE ${condition}`, {
      settings: { lightweight_deletes_sync: '2' },
    });
  const databases = async () =>
    (await store.client.queryRows<{ name: string }>('SELECT name FROM system.databases')).map(
      ({ name }) => name,
    );

  it('writes the same rows again, and a sink continues after them', async () => {
    const hashes = await readRunHashes(store.client);
    const { before, after, numRowsProjected } = await rebuild();
    expect(before).toEqual(hashes);
    expect(after).toEqual(hashes);
    // LogOpened, a dead letter, and 2 control events and 5 episodes of 5 events a run.
    expect(numRowsProjected).toBe(2 + 2 * (2 + 5 * 5));
    expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 1, numRepeatedRows: 0 });
    expect(await databases()).not.toContain('retrace_rebuild');

    await appendEvents(store.log, episodeEvents({ logId: store.log.logId, runId: runIds[0], ordinal: 7 }));
    await catchUp(store.log, store.client);
    expect(await verify()).toMatchObject({ ok: true, numEpisodes: 11, numRepeatedRows: 0 });
  });

  it('refuses to drop the events of another log unless it is told to', async () => {
    await store.client.command(
      "INSERT INTO events SELECT * REPLACE ('before' AS log_id) FROM events WHERE run_id != ''",
    );
    await expect(rebuild()).rejects.toMatchObject({
      code: 'STORE_OF_OTHER_LOG',
      message: expect.stringContaining('the store has 54 events of log before') as string,
    });
    expect(await verify()).toMatchObject({ ok: false });
    await rebuild({ acceptsOtherLogs: true });
    expect(await verify()).toMatchObject({ ok: true, numEpisodes: 10 });
  });

  it('repairs missing rows, and rows without a record', async () => {
    const hashes = await readRunHashes(store.client);
    await damage("kind = 'StepRecorded' AND seq = 2");
    await store.client.command(
      "INSERT INTO events SELECT * REPLACE ('other' AS action, 77 AS log_offset) FROM events WHERE kind = 'StepRecorded'",
    );
    expect((await verify()).ok).toBe(false);
    const { before, after } = await rebuild();
    expect(before).not.toEqual(hashes);
    expect(after).toEqual(hashes);
    expect((await verify()).ok).toBe(true);
  });

  it('rebuilds one run and leaves the others unchanged', { tags: 'release' }, async () => {
    const [first, second] = (await readRunHashes(store.client)).slice(1);
    await damage("kind = 'StepRecorded' AND seq = 2");
    const { before, after, numRowsProjected } = await rebuild({ runId: first.runId });
    expect(numRowsProjected).toBe(2 + 5 * 5);
    expect(after.find(({ runId }) => runId === first.runId)).toEqual(first);
    const untouched = after.find(({ runId }) => runId === second.runId);
    expect(untouched).toEqual(before?.find(({ runId }) => runId === second.runId));
    expect(untouched).not.toEqual(second);
    expect((await verify()).faults.every(({ where }) => !where.includes(first.runId))).toBe(true);
    await rebuild({ runId: second.runId });
    expect(await verify()).toMatchObject({ ok: true, numRepeatedRows: 0, numPending: 0 });
  });

  it('shows the old rows until the new ones are complete', { tags: 'release' }, async () => {
    const counts: number[] = [];
    let isDone = false;
    const reading = (async () => {
      while (!isDone) {
        const [{ n }] = await store.client.queryRows<{ n: number }>('SELECT count() AS n FROM steps');
        counts.push(n);
      }
    })();
    await rebuild();
    await rebuild({ runId: runIds[0] });
    isDone = true;
    await reading;
    expect(counts.length).toBeGreaterThan(3);
    expect(new Set(counts)).toEqual(new Set([2 * 5 * 3]));
  });

  const keepsRows = 'keeps rows that a sink writes during the rebuild (%s)';
  const keepsThem = async (what: string) => {
    const stop = new AbortController();
    const running = new Sink({ minInsertIntervalMs: 10 }).run({
      log: store.log,
      client: store.client,
      signal: stop.signal,
    });
    let isDone = false;
    let ordinal = 100;
    const collecting = (async () => {
      while (!isDone) {
        const ids = { logId: store.log.logId, runId: runIds[ordinal % 2] };
        await appendEvents(store.log, episodeEvents({ ...ids, ordinal: ordinal++ }));
        await sleep(10);
      }
    })();
    for (let i = 0; i < 2; i++) await rebuild(what === 'whole' ? {} : { runId: runIds[i % 2] });
    isDone = true;
    await collecting;
    stop.abort();
    await running;
    await catchUp(store.log, store.client);
    expect(ordinal).toBeGreaterThan(110);
    expect(await verify()).toMatchObject({ numFaults: 0, numPending: 0, numEpisodes: 10 + ordinal - 100 });
  };
  it.each(['whole', 'one run'])(keepsRows, { tags: 'release' }, keepsThem);

  it('leaves the store unchanged when it is stopped, and removes what a killed rebuild left', async () => {
    const hashes = await readRunHashes(store.client);
    await store.client.command('CREATE DATABASE retrace_rebuild');
    await store.client.command('CREATE TABLE retrace_rebuild.events AS events');
    await store.client.command('INSERT INTO retrace_rebuild.events SELECT * FROM events LIMIT 3');
    const log = overriding(store.log, {
      endOffset: () => Promise.reject(new Error('killed')),
    });
    await expect(rebuild({ log })).rejects.toThrow('killed');
    expect(await readRunHashes(store.client)).toEqual(hashes);
    expect((await rebuild()).after).toEqual(hashes);
    expect(await databases()).not.toContain('retrace_rebuild');
  });
});
