import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import {
  episodeDigests,
  episodeIdFor,
  newRunId,
  type StepRecorded,
  type UpdateTraced,
} from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { columnsFromEvents, controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { refuseOtherLogs } from '../position/other-logs.js';
import { type VerifyReport, verifyStore } from './verify-store.js';

const STATISTICS = [
  'weights',
  'advantageMeans',
  'advantageDeviations',
  'advantageMins',
  'advantageMaxs',
] as const;

describe('verifyStore', () => {
  let store: StoreFixture;
  let runId: string;

  beforeEach(async () => {
    store = await openStoreFixture();
    runId = newRunId();
  });

  afterEach(() => store.close());

  const sinkEverything = () => catchUp(store.log, store.client);

  async function appendRun(): Promise<void> {
    const ids = { logId: store.log.logId, runId };
    await appendEvents(store.log, [
      controlEvent(ids, 'RunStarted'),
      controlEvent(ids, 'TrainerClaimed', { epoch: 1 }),
      controlEvent(ids, 'PolicyPublished', { epoch: 1, policyVersion: 0, parentVersion: null }),
      controlEvent(ids, 'BatchPlanned', { epoch: 1, updateNumber: 0 }),
      controlEvent(ids, 'UpdateApplied', { epoch: 1, updateNumber: 0, policyVersionOut: 1 }),
    ]);
    for (let ordinal = 0; ordinal < 4; ordinal++) {
      await appendEvents(store.log, episodeEvents({ ...ids, ordinal }));
    }
  }

  function verify(): Promise<VerifyReport> {
    return verifyStore({ log: store.log, client: store.client });
  }

  /** Replaces the rows that match by what `change` makes of their columns, as a damaged disk might. */
  async function damage(condition: string, change: string): Promise<void> {
    await store.client.command('CREATE TABLE damaged AS events');
    await store.client.command(
      `INSERT INTO damaged SELECT * REPLACE (${change}) FROM events WHERE ${condition}`,
    );
    await store.client.command(`DELETE FROM events WHERE ${condition}`, {
      settings: { lightweight_deletes_sync: '2' },
    });
    await store.client.command('INSERT INTO events SELECT * FROM damaged');
  }

  it('finds no fault in what the sink wrote', async () => {
    await appendRun();
    await sinkEverything();
    expect(await verify()).toEqual({
      ok: true,
      // LogOpened, 5 control events, 4 episodes of 5 events.
      numRecords: 26,
      numDeadLetters: 0,
      numRepeatedRows: 0,
      numDeletedRecords: 0,
      numPending: 0,
      numEpisodes: 4,
      numSealedEpisodes: 4,
      numConflicts: 0,
      numFaults: 0,
      faults: [],
      runsCompared: true,
      runHashes: [
        { runId: '', numRows: 1, rowHash: expect.stringMatching(/^[0-9a-f]{32}$/) as string },
        { runId, numRows: 25, rowHash: expect.stringMatching(/^[0-9a-f]{32}$/) as string },
      ],
    });
  });

  it('names events of another log, as after the log was lost and begun anew, and no other log without events', async () => {
    await appendRun();
    await sinkEverything();
    const path = join(store.directory, 'begun anew');
    const anew = await openLmdbLog({ path, createdBy: 'test' });
    await catchUp(anew, store.client);
    const { logId } = store.log;
    const message = expect.stringContaining(
      `the store has 25 events of log ${logId}, and the log is ${anew.logId}: it was lost or replaced, or this is another's store`,
    ) as string;
    expect(await verifyStore({ log: anew, client: store.client })).toMatchObject({
      ok: false,
      numFaults: 1,
      faults: [{ code: 'STORE_OF_OTHER_LOG', where: `log ${logId}`, message }],
    });
    await expect(refuseOtherLogs(store.client, anew.logId)).rejects.toMatchObject({
      code: 'STORE_OF_OTHER_LOG',
      message,
    });
    await anew.close();
    await refuseOtherLogs(store.client, logId);
    expect(await verify()).toMatchObject({ ok: true, faults: [] });
  });

  it('distinguishes records that are not written yet from missing rows', async () => {
    await appendRun();
    await sinkEverything();
    const events = episodeEvents({ logId: store.log.logId, runId, ordinal: 9 });
    await appendEvents(store.log, events);
    expect(await verify()).toMatchObject({ ok: false, numPending: 5, numFaults: 0 });

    await sinkEverything();
    await store.client.command(
      "DELETE FROM events WHERE kind = 'StepRecorded' AND seq = 2 AND episode_id = {id:String}",
      {
        params: { id: events[0].episodeId },
        settings: { lightweight_deletes_sync: '2' },
      },
    );
    const { ok, numPending, faults } = await verify();
    expect({ ok, numPending }).toEqual({ ok: false, numPending: 0 });
    expect(faults).toEqual([
      {
        code: 'ROW_MISSING',
        where: expect.stringMatching(/^trajectories\/\d offset \d+$/) as string,
        message: 'the store has no row for this record',
      },
      {
        code: 'EPISODE_INCONSISTENT',
        where: `run ${runId} episode ${events[0].episodeId}`,
        message: 'steps 1 to 1 are missing',
      },
    ]);
  });

  it('names each episode that an update was computed from with other content than the store shows', async () => {
    const ids = { logId: store.log.logId, runId };
    const episodes = [0, 1, 2].map((ordinal) => episodeEvents({ ...ids, ordinal }));
    await appendRun();
    const byId = new Map(episodes.map((events) => [events[0].episodeId, events]));
    const episodeIds = [...byId.keys()];
    const digests = episodeDigests(columnsFromEvents(episodeIds, byId));
    const none = new Int32Array(3);
    const traced = (updateNumber: number, changes: Partial<UpdateTraced>) =>
      controlEvent(ids, 'UpdateTraced', {
        ...{ updateNumber, runIds: [runId], episodeRuns: none, episodeGroups: none, episodeIds },
        ...{ firstSteps: none, numSteps: Int32Array.of(3, 3, 3), times: none, numTokens: none },
        ...Object.fromEntries(STATISTICS.map((name) => [name, new Float32Array(3)])),
        ...changes,
      });
    const absent = episodeIdFor({ runId, ordinal: 77 });
    await appendEvents(store.log, [
      traced(1, { episodeDigests: digests }),
      traced(2, { episodeDigests: digests.with(1, '0'.repeat(16)) }),
      traced(3, { episodeDigests: digests, episodeIds: episodeIds.with(2, absent) }),
      // As older code wrote them.
      traced(4, { episodeDigests: [], episodeIds: episodeIds.with(2, absent) }),
    ]);
    await sinkEverything();
    const found = (await verify()).faults.filter(({ code }) => code === 'TRAINED_EPISODE_DIFFERS');
    expect(found.map(({ where }) => where)).toEqual([`run ${runId}`, `run ${runId}`]);
    expect(found[0].message).toContain(
      `update 2 was computed from other content of episode ${episodeIds[1]}`,
    );
    expect(found[1].message).toContain(absent);
  });

  it('finds a changed column', async () => {
    await appendRun();
    await sinkEverything();
    await damage(
      "kind = 'StepRecorded' AND seq = 1",
      'arrayMap(p -> p / 2, token_logprobs) AS token_logprobs',
    );
    const { faults } = await verify();
    expect(faults).toHaveLength(4);
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(['ROW_DAMAGED']));
  });

  it('finds a row with another event, and rows without a record', async () => {
    await appendRun();
    await sinkEverything();
    await damage("kind = 'RunStarted'", 'generateUUIDv4() AS event_id');
    await store.client.command(
      "INSERT INTO events SELECT * REPLACE (log_offset - 1 AS log_offset) FROM events WHERE kind = 'RunStarted'",
    );
    const sparse = overriding(store.log, {
      read: async (...range) => (await store.log.read(...range)).filter(({ offset }) => offset !== 4),
    });
    const { faults } = await verifyStore({ log: sparse, client: store.client });
    expect(faults.filter(({ where }) => where.startsWith('control'))).toMatchObject([
      {
        code: 'ROW_DIFFERS',
        where: 'control/0 offset 0',
        message: 'the record is a LogOpened; the row is a RunStarted',
      },
      {
        code: 'ROW_DIFFERS',
        where: 'control/0 offset 1',
        message: expect.stringContaining('the row is event') as string,
      },
      { code: 'ROW_UNKNOWN', where: 'control/0 offset 4' },
    ]);
  });

  it('counts dead letters, repeated rows and conflicts without reporting them as faults', async () => {
    await appendRun();
    await store.log.append('control', 0, [Uint8Array.of(7)]);
    const events = episodeEvents({ logId: store.log.logId, runId, ordinal: 5 });
    const { partition } = await appendEvents(store.log, events);
    const step = events[1];
    const other = { ...step, payload: { ...(step.payload as StepRecorded), reward: 99 } };
    await store.log.append('trajectories', partition, [encodeEvent(step), encodeEvent(other as typeof step)]);
    await sinkEverything();
    await store.client.command("INSERT INTO events SELECT * FROM events WHERE kind = 'EpisodeEnded'");
    expect(await verify()).toMatchObject({
      ok: true,
      numDeadLetters: 2,
      numConflicts: 1,
      numRepeatedRows: 5,
      numFaults: 0,
      runsCompared: true,
    });
    const conflicts = await store.client.queryRows(
      "SELECT episode_id, event_kind FROM dead_letters WHERE code = 'CONFLICT'",
    );
    expect(conflicts).toEqual([{ episode_id: step.episodeId, event_kind: 'StepRecorded' }]);
  });
});
