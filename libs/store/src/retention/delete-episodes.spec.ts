import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compactLmdbLog, openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { readDeletedRuns } from '../admission/deletion-watch.js';
import { isDeleted } from '../admission/deletion-watch.js';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient } from '../client/store-client.js';
import { readLogFromStore } from '../rebuild/log-from-store.js';
import { rebuildStore } from '../rebuild/rebuild-store.js';
import { Sink } from '../sink/sink.js';
import { readRunHashes } from '../verify/row-hash.js';
import { verifyStore } from '../verify/verify-store.js';
import { deletedPlaceholder } from './deleted-placeholder.js';
import { deleteEpisodes, type DeleteEpisodes } from './delete-episodes.js';
import { deleteRunRecords } from './delete-run-records.js';

const MARKER = 'a-name-that-must-go';

describe('deleteEpisodes', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const episodeId = (ordinal: number) => episodeIdFor({ runId, ordinal });

  beforeEach(async () => {
    store = await openStoreFixture({ numTrajectoryPartitions: 1 });
    await append(controlEvent(ids(), 'RunStarted'));
    // The first and the last episode, whose records are the ends of the partition, are among those to delete.
    for (let ordinal = 0; ordinal < 4; ordinal++) await append(...episode(ordinal));
    await catchUp(store.log, store.client);
  });

  afterEach(() => store.close());

  const ids = () => ({ logId: store.log.logId, runId });
  const append = (...events: AnyEvent[]) => appendEvents(store.log, events);
  const episode = (ordinal: number) =>
    episodeEvents({
      ...ids(),
      ordinal,
      started: { task: ordinal % 3 === 0 ? MARKER : 'kept' },
      step: () => ({ observation: ordinal % 3 === 0 ? MARKER : 'kept' }),
    });
  const verify = () => verifyStore({ log: store.log, client: store.client });
  const remove = (options: Partial<DeleteEpisodes> = {}) =>
    deleteEpisodes({
      ...{ log: store.log, client: store.client, runId, detail: 'test', force: false },
      episodeIds: [0, 3].map(episodeId),
      ...options,
    });
  const storedEpisodes = async (client = store.client) => {
    const rows = await client.queryRows<{ id: string }>(
      "SELECT DISTINCT episode_id AS id FROM events WHERE kind = 'StepRecorded' ORDER BY id",
    );
    return rows.map(({ id }) => id);
  };
  const numMarked = async () => {
    const records = await store.log.read('trajectories', 0, 0, { maxRecords: 1_000, maxBytes: Infinity });
    return records.filter(({ bytes }) => Buffer.from(bytes).includes(MARKER)).length;
  };

  it('deletes their rows and records, also those at the ends of a partition, and nothing of other episodes', async () => {
    const ends = [
      await store.log.startOffset('trajectories', 0),
      await store.log.endOffset('trajectories', 0),
    ];
    // 2 episodes of 5 events; a placeholder stays at either end.
    expect(await remove()).toEqual({ runId, numEpisodes: 2, numRows: 10, numReleased: 8 });
    expect(await storedEpisodes()).toEqual([1, 2].map(episodeId));
    expect(await numMarked()).toBe(0);
    expect([
      await store.log.startOffset('trajectories', 0),
      await store.log.endOffset('trajectories', 0),
    ]).toEqual(ends);
    expect(await verify()).toMatchObject({
      ok: true,
      numEpisodes: 2,
      numDeletedRecords: 2,
      numDeadLetters: 0,
    });
  });

  it('drops records of them that come later, and finds no fault in that', async () => {
    await remove();
    const reward = episodeEvent({ ...ids(), episodeId: episodeId(0) }, 'RewardAssigned', 9, { value: 1 });
    await append(reward as AnyEvent);
    await append(...episode(3));
    await append(...episode(4));
    await catchUp(store.log, store.client);
    expect(await storedEpisodes()).toEqual([1, 2, 4].map(episodeId));
    expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 0, numEpisodes: 3 });
  });

  it(
    'drops records that a running sink meets while it learns of the deletion',
    { tags: 'release' },
    async () => {
      const stop = new AbortController();
      const sink = new Sink({ lingerMs: 1, minInsertIntervalMs: 1 });
      const running = sink.run({ log: store.log, client: store.client, signal: stop.signal });
      const bringUpToDate = async () => {
        for (const [stream, end] of [
          ['control', await store.log.endOffset('control', 0)],
          ['trajectories', await store.log.endOffset('trajectories', 0)],
        ] as const)
          await sink.caughtUpTo(stream, 0, end - 1);
      };
      const late = async () => {
        for (let i = 0; i < 20; i++) await append(...episode(5 + i), ...[]);
      };
      await Promise.all([late(), remove({ bringUpToDate, episodeIds: [5, 9, 14, 20].map(episodeId) })]);
      await bringUpToDate();
      stop.abort();
      await running;
      const kept = Array.from({ length: 25 }, (_, i) => i).filter(
        (i) => i !== 4 && ![5, 9, 14, 20].includes(i),
      );
      expect(await storedEpisodes()).toEqual(kept.map(episodeId));
      expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 0 });
    },
  );

  it(
    'keeps them out of a rebuilt store and of a log that is written again from the store',
    { tags: 'release' },
    async () => {
      await remove();
      const hashes = await readRunHashes(store.client);
      const openClient = (database: string) =>
        createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });
      for (const one of [undefined, runId]) {
        const { after } = await rebuildStore({
          ...{ log: store.log, client: store.client, openClient },
          ...(one !== undefined && { runId: one }),
        });
        expect(after).toEqual(hashes);
      }
      const damaged: string[] = [];
      const job = {
        client: store.client,
        logId: store.log.logId,
        onDamagedRow: (where: string) => damaged.push(where),
      };
      for await (const { records } of readLogFromStore(job)) {
        expect(records.some(({ bytes }) => Buffer.from(bytes).includes(MARKER))).toBe(false);
      }
      expect(damaged).toEqual([]);
    },
  );

  it('refuses episodes that updates were trained on, unless forced', async () => {
    const plan = {
      ...{ epoch: 1, episodeIds: [episodeId(0)], numSteps: Int32Array.of(3) },
      ...{ runIds: [], groupRuns: null, episodeGroups: null, groupWeights: null },
    };
    await append(
      controlEvent(ids(), 'TrainerClaimed', { epoch: 1 }),
      controlEvent(ids(), 'BatchPlanned', plan),
    );
    await expect(remove()).rejects.toMatchObject({
      code: 'EPISODES_REFERRED_TO',
      message: expect.stringContaining(runId) as string,
    });
    expect(await storedEpisodes()).toHaveLength(4);
    expect(await remove({ force: true })).toMatchObject({ numEpisodes: 2 });
  });

  it('completes a deletion that was cut short, when it is called again', { tags: 'release' }, async () => {
    const dies = new Proxy(store.log, {
      get(log, name) {
        if (name === 'release') return () => Promise.reject(new Error('killed'));
        const own: unknown = Reflect.get(log, name, log);
        return typeof own === 'function' ? (own.bind(log) as unknown) : own;
      },
    });
    await expect(remove({ log: dies })).rejects.toThrow('killed');
    expect((await verify()).faults).toMatchObject(
      Array.from({ length: 10 }, () => ({ code: 'ROW_OF_DELETED_RUN' })),
    );
    expect(await remove()).toMatchObject({ numRows: 10, numReleased: 8 });
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('keeps them deleted after their run was deleted', { tags: 'release' }, async () => {
    await remove();
    await deleteRunRecords({ log: store.log, client: store.client, runId, detail: 'test', force: false });
    expect(await verify()).toMatchObject({ ok: true, numEpisodes: 0 });
    await append(controlEvent(ids(), 'RunStarted'));
    for (const ordinal of [0, 1]) await append(...episode(ordinal));
    await catchUp(store.log, store.client);
    expect(await storedEpisodes()).toEqual([episodeId(1)]);
    expect(await verify()).toMatchObject({ ok: true, numEpisodes: 1 });
  });

  it('leaves no byte of them in the file of the log after it was compacted', async () => {
    const path = join(store.directory, 'log');
    const hasMarker = async () => (await readFile(join(path, 'data.mdb'))).includes(MARKER);
    await remove();
    // A late record has no row, so only the compaction can find it.
    await append(...episode(3));
    await append(...episode(1).slice(0, 1));
    await catchUp(store.log, store.client);
    const deletedRuns = await readDeletedRuns(store.log);
    const { logId } = store.log;
    await store.log.commitCursor('reader', 'control', 0, 2);
    await store.log.close();
    expect(await hasMarker()).toBe(true);
    const report = await compactLmdbLog({
      path,
      isDeleted: (stream, partition, record) => isDeleted(record, { logId, stream, partition }, deletedRuns),
      atEdge: deletedPlaceholder,
    });
    expect(report).toMatchObject({ numDeleted: 2 + 5 });
    expect(await hasMarker()).toBe(false);
    const log = await openLmdbLog({ path, createdBy: 'test' });
    expect(log.logId).toBe(logId);
    expect(await log.readCursor('reader', 'control', 0)).toBe(2);
    expect(await verifyStore({ log, client: store.client })).toMatchObject({ ok: true, numEpisodes: 2 });
    await log.close();
  });
});
