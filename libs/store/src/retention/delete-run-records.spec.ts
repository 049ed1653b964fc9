import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlTail } from '@retrace/log';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, episodeIdFor, newRunId, type Json } from '@retrace/trajectory';
import { frame, messagePack } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { readNextOffset } from '../position/store-position.js';
import { rebuildStore } from '../rebuild/rebuild-store.js';
import { migrate } from '../schema/migrate.js';
import { Sink } from '../sink/sink.js';
import { readRunHashes } from '../verify/row-hash.js';
import { verifyStore } from '../verify/verify-store.js';
import { deleteRunRecords, type DeleteRunRecords } from './delete-run-records.js';

describe('deleteRunRecords', () => {
  let store: StoreFixture;
  const [runId, otherId] = [newRunId(), newRunId()];

  beforeEach(async () => {
    store = await openStoreFixture();
    // The runs lie in the log mixed, and the last record of every partition is one of the run to delete.
    for (const id of [otherId, runId]) await append(controlEvent(ids(id), 'RunStarted', recipe({})));
    for (let ordinal = 0; ordinal < 6; ordinal++) {
      for (const id of [otherId, runId]) await append(...episodeEvents({ ...ids(id), ordinal }));
    }
    for (const id of [otherId, runId]) await append(controlEvent(ids(id), 'RunEnded'));
    await catchUp(store.log, store.client);
  });

  const atEnd: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of atEnd.splice(0)) await close();
    await store.close();
  });

  const ids = (id: string) => ({ logId: store.log.logId, runId: id });
  const append = (...events: AnyEvent[]) => appendEvents(store.log, events);
  const recipe = (fields: Record<string, Json>) => ({ recipe: fields });
  const verify = () => verifyStore({ log: store.log, client: store.client });
  const remove = (options: Partial<DeleteRunRecords> = {}) =>
    deleteRunRecords({
      log: store.log,
      client: store.client,
      runId,
      detail: 'test',
      force: false,
      ...options,
    });
  const positions = () =>
    Promise.all(
      [0, 1].map((partition) =>
        readNextOffset(store.client, { logId: store.log.logId, stream: 'trajectories', partition }),
      ),
    );

  /** A log that can't let go of single records. */
  const withoutRelease = () =>
    new Proxy(store.log, {
      get(log, name) {
        if (name === 'release') return undefined;
        const own: unknown = Reflect.get(log, name, log);
        return typeof own === 'function' ? (own.bind(log) as unknown) : own;
      },
    });

  const count = async (client: StoreClient, kind: string): Promise<number> => {
    const [{ n }] = await client.queryRows<{ n: number }>(
      'SELECT count() AS n FROM events WHERE kind = {kind:String}',
      { params: { kind } },
    );
    return n;
  };

  async function numRecordsOf(id: string, client = store.client): Promise<number> {
    const [row] = await client.queryRows<{ n: number }>(
      "SELECT count() AS n FROM events WHERE run_id = {id:String} AND kind != 'RunDeleted'",
      { params: { id } },
    );
    return row.n;
  }

  it('deletes the rows and records of the run, and nothing of other runs', async () => {
    const before = await readRunHashes(store.client);
    const positionsBefore = await positions();
    // 32 rows; the log keeps the last record of each partition, which is one of them.
    const { numRows, numReleased } = await remove();
    expect(numRows).toBe(2 + 6 * 5);
    expect(numReleased).toBeGreaterThanOrEqual(numRows - 3);
    expect(await numRecordsOf(runId)).toBe(0);
    expect(await readRunHashes(store.client)).toEqual(before.filter((run) => run.runId !== runId));
    expect(await positions()).toEqual(positionsBefore);
    expect(await store.client.queryRows('SELECT run_id FROM runs')).toEqual([{ run_id: otherId }]);
    const tail = new ControlTail(store.log);
    await tail.catchUp();
    tail.close();
    expect(tail.state.runs.map((run) => run.runId)).toEqual([otherId]);
    expect(await verify()).toMatchObject({ ok: true, numFaults: 0, numPending: 0, numEpisodes: 6 });
  });

  it('leaves the run out of a rebuilt store, also where the log could not release its records', async () => {
    expect((await remove({ log: withoutRelease() })).numReleased).toBeNull();
    const hashes = await readRunHashes(store.client);
    expect(await verify()).toMatchObject({ ok: true, numDeletedRecords: 32 });
    const openClient = (database: string) =>
      createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });
    for (const one of [undefined, runId]) {
      const { after } = await rebuildStore({
        log: store.log,
        client: store.client,
        openClient,
        ...(one !== undefined && { runId: one }),
      });
      expect(after).toEqual(hashes);
      expect(await verify()).toMatchObject({ ok: true, numDeletedRecords: 32, numPending: 0 });
    }
    await catchUp(store.log, store.client);
    expect(await numRecordsOf(runId)).toBe(0);
  });

  it('makes verify report a row of a deleted run', { tags: 'release' }, async () => {
    await store.client.command('CREATE TABLE backup AS events');
    await store.client.command(
      'INSERT INTO backup SELECT * FROM events WHERE run_id = {runId:String} LIMIT 1',
      {
        params: { runId },
      },
    );
    await remove({ log: withoutRelease() });
    await store.client.command('INSERT INTO events SELECT * FROM backup');
    await store.client.command('DROP TABLE backup');
    expect((await verify()).faults.map(({ code }) => code)).toContain('ROW_OF_DELETED_RUN');
    await remove({ log: withoutRelease() });
    expect((await verify()).ok).toBe(true);
  });

  it('completes, when called again, a deletion that was cut short after its commit', async () => {
    const dies = () => Promise.reject(new Error('killed'));
    await expect(remove({ onCommitted: dies })).rejects.toThrow('killed');
    expect(await numRecordsOf(runId)).toBe(32);
    await remove();
    expect(await numRecordsOf(runId)).toBe(0);
    expect(await verify()).toMatchObject({ faults: [], numPending: 0, ok: true });
  });

  const deletesLate = 'deletes rows that a lagging sink writes after the deletion, %s';
  it.each(['at once', 'when it is started again'])(deletesLate, { tags: 'release' }, deletesLateRows);

  async function deletesLateRows(when: string): Promise<void> {
    // A second sink, which reads what the first has brought, and whose inserts of the run are held up until it is deleted.
    await store.client.command('CREATE DATABASE lagging');
    const own = createStoreClient({
      url: store.url,
      username: 'retrace',
      password: 'fixture',
      database: 'lagging',
    });
    atEnd.push(() => own.close());
    await migrate(own);
    const log = withoutRelease();
    let arrived: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arrived = resolve));
    let goOn: () => void = () => undefined;
    const deleted = new Promise<void>((resolve) => (goOn = resolve));
    const lagging = overriding(own, {
      insertArrow: async (insert) => {
        if (!Buffer.from(insert.body).includes(runId)) return own.insertArrow(insert);
        arrived();
        await deleted;
        await own.insertArrow(insert);
        if (when !== 'at once') throw new Error('killed');
      },
    });
    const stop = new AbortController();
    const running = new Sink({ lingerMs: 0 }).run({ log, client: lagging, signal: stop.signal });
    running.catch(() => undefined);
    await held;
    await remove({ log, bringUpToDate: () => Promise.resolve(), client: own });
    goOn();
    if (when === 'at once') {
      await expect.poll(() => count(own, 'LogOpened')).toBe(1);
      stop.abort();
      await running;
    } else {
      await expect(running).rejects.toThrow('killed');
      expect(await numRecordsOf(runId, own)).toBeGreaterThan(0);
    }
    await catchUp(log, own);
    expect(await numRecordsOf(runId, own)).toBe(0);
    expect(await verifyStore({ log, client: own })).toMatchObject({
      ok: true,
      numFaults: 0,
      numPending: 0,
      numEpisodes: 6,
    });
  }

  it('lets the run be imported again', { tags: 'release' }, async () => {
    await remove();
    await append(controlEvent(ids(runId), 'RunStarted'), controlEvent(ids(runId), 'RunEnded'));
    await append(...episodeEvents({ ...ids(runId), ordinal: 0 }));
    await catchUp(store.log, store.client);
    expect(await numRecordsOf(runId)).toBe(7);
    expect(await verify()).toMatchObject({ ok: true, numEpisodes: 7 });
  });

  const references: readonly (readonly [how: string, events: () => AnyEvent[]])[] = [
    [
      'trained on its episodes in 1 updates',
      () => [
        controlEvent(ids(otherId), 'TrainerClaimed', { epoch: 1 }),
        controlEvent(ids(otherId), 'BatchPlanned', {
          epoch: 1,
          updateNumber: 0,
          episodeIds: [episodeIdFor({ runId, ordinal: 2 })],
          numSteps: Int32Array.of(3),
          ...{ runIds: [runId], groupIds: ['group'], groupRuns: Int32Array.of(1) },
          ...{ episodeGroups: Int32Array.of(0), groupWeights: Float64Array.of(1) },
        }),
      ],
    ],
    [
      'started from one of its policies',
      () =>
        [
          [runId, 0, null, '11'],
          [runId, 1, 0, '22'],
          [otherId, 0, null, '22'],
        ].flatMap(([id, policyVersion, parentVersion, digits], i) => [
          controlEvent(ids(id as string), 'TrainerClaimed', { epoch: i + 1 }),
          controlEvent(ids(id as string), 'PolicyPublished', {
            epoch: i + 1,
            policyVersion: policyVersion as number,
            parentVersion: parentVersion as number | null,
            weights: { sha256: (digits as string).repeat(32), sizeBytes: 1 },
          }),
        ]),
    ],
    [
      'collected with one of its policies',
      () => [controlEvent(ids(newRunId()), 'RunStarted', recipe({ fromRun: runId }))],
    ],
    [
      'learned from one of its policies',
      () => [
        controlEvent(
          ids(newRunId()),
          'RunStarted',
          recipe({ distillation: { teacher: { policy: { source: { runId } } } } }),
        ),
      ],
    ],
  ];
  const refuses = 'refuses a run that another one %s, unless forced';
  it.each(references.slice(0, 1))(refuses, refusesUnlessForced);
  it.each(references.slice(1))(refuses, { tags: 'release' }, refusesUnlessForced);

  async function refusesUnlessForced(how: string, events: () => AnyEvent[]): Promise<void> {
    await append(...events());
    await expect(remove()).rejects.toMatchObject({
      code: 'RUN_REFERRED_TO',
      message: expect.stringContaining(how) as string,
    });
    expect(await numRecordsOf(runId)).toBeGreaterThanOrEqual(32);
    await remove({ force: true });
    expect(await numRecordsOf(runId)).toBe(0);
    const [{ payload }] = await store.client.queryRows<{ payload: string }>(
      "SELECT payload FROM events WHERE kind = 'RunDeleted'",
    );
    expect(JSON.parse(payload)).toMatchObject({ forced: true, detail: 'test' });
    expect((await verify()).numFaults).toBe(0);
  }

  it('does not treat equal untrained weights as lineage', { tags: 'release' }, async () => {
    for (const id of [otherId, runId]) {
      await append(
        controlEvent(ids(id), 'TrainerClaimed', { epoch: 1 }),
        controlEvent(ids(id), 'PolicyPublished', { epoch: 1, policyVersion: 0, parentVersion: null }),
      );
    }
    await remove();
    expect(await numRecordsOf(runId)).toBe(0);
  });

  it('covers every table that has a run id', async () => {
    const tables = await store.client.queryRows<{ table: string }>(
      `SELECT table FROM system.columns
       WHERE database = currentDatabase() AND name = 'run_id'
         AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`,
    );
    // A new one belongs into ROWS_OF_RUN, or its rows outlive their run.
    expect(tables.map(({ table }) => table).sort()).toEqual([
      'events',
      'reward_definitions',
      'reward_scores',
      'traced_inputs',
    ]);
  });

  it('deletes what was computed from the run, and its dead letters', async () => {
    await store.client.command(
      "INSERT INTO reward_scores (run_id, reward_version, episode_id) VALUES ({runId:String}, 'v', 'e'), ({otherId:String}, 'v', 'e')",
      { params: { runId, otherId } },
    );
    await store.log.append('control', 0, [unknownVersion(runId), unknownVersion(otherId)]);
    await remove();
    expect(await store.client.queryRows('SELECT run_id FROM reward_scores')).toEqual([{ run_id: otherId }]);
    expect(await store.client.queryRows('SELECT run_id FROM dead_letters')).toEqual([{ run_id: otherId }]);
    expect(await verify()).toMatchObject({ faults: [], numPending: 0, ok: true });
  });

  function unknownVersion(id: string): Uint8Array {
    const { eventId, logId } = controlEvent(ids(id), 'RunEnded');
    const bytes = [eventId, logId, id, ''].map((uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex'));
    return frame(messagePack.pack(['RunEnded', 99, ...bytes, 0, Date.now() * 1000, { detail: 'x' }]));
  }
});
