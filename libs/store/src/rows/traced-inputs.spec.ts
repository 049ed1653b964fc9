import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newRunId, type UpdateTraced } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { rebuildStore } from '../rebuild/rebuild-store.js';
import { deleteEpisodes } from '../retention/delete-episodes.js';
import { deleteRunRecords } from '../retention/delete-run-records.js';
import { verifyStore } from '../verify/verify-store.js';
import { TRACED_INPUTS } from './traced-inputs.js';

interface InputRow {
  readonly update_number: number;
  readonly episode_id: string;
  readonly advantage_mean: number | null;
}

/** Plans whose episodes are all of their own run. */
const OWN_GROUPS = {
  ...{ runIds: [], groupRuns: null, groupSources: null, groupRows: null },
  ...{ episodeGroups: null, groupWeights: null },
};

describe('update_inputs', () => {
  let store: StoreFixture;
  let runId: string;
  const episodeId = (ordinal: number) => episodeIdFor({ runId, ordinal });
  const planId = (updateNumber: number) => `01936d00-0000-7000-8000-${`${updateNumber}`.padStart(12, '0')}`;

  beforeEach(async () => {
    store = await openStoreFixture();
    runId = newRunId();
    await append(controlEvent(ids(), 'RunStarted'), controlEvent(ids(), 'TrainerClaimed', { epoch: 0 }));
  });

  afterEach(() => store.close());

  const ids = () => ({ logId: store.log.logId, runId });
  const append = (...events: Parameters<typeof appendEvents>[1]) => appendEvents(store.log, events);

  /** Plans and commits an update that these episodes fed, each with the advantage that is its ordinal. */
  async function commit(updateNumber: number, ordinals: readonly number[], epoch = 0): Promise<void> {
    const key = { planId: planId(updateNumber), updateNumber, epoch };
    const column = (of: (ordinal: number) => number) => Float32Array.from(ordinals, of);
    const counts = (value: number) => new Int32Array(ordinals.length).fill(value);
    const traced: UpdateTraced = {
      ...{ ...key, policyVersionIn: updateNumber - 1, runIds: [runId], groupIds: ['group'] },
      ...{ episodeRuns: counts(0), episodeGroups: counts(0), episodeIds: ordinals.map(episodeId) },
      episodeDigests: [],
      ...{ firstSteps: counts(0), numSteps: counts(3), times: counts(1), numTokens: counts(6) },
      weights: column((ordinal) => (ordinal === 2 ? NaN : 0.5)),
      advantageMeans: column((ordinal) => ordinal),
      advantageDeviations: column(() => 0.25),
      advantageMins: column((ordinal) => ordinal - 1),
      advantageMaxs: column((ordinal) => ordinal + 1),
      stepLosses: Float64Array.of(0.5),
      stepGradientNorms: Float64Array.of(2),
    };
    await append(controlEvent(ids(), 'BatchPlanned', { ...key, groupIds: [], ...OWN_GROUPS }));
    await append(
      controlEvent(ids(), 'UpdateTraced', traced),
      controlEvent(ids(), 'UpdateApplied', { ...key, policyVersionOut: updateNumber }),
    );
  }

  const inputs = (condition = '1') =>
    store.client.queryRows<InputRow>(
      `SELECT update_number, episode_id, advantage_mean FROM update_inputs
       WHERE ${condition} ORDER BY update_number, place`,
    );
  const row = (updateNumber: number, ordinal: number): InputRow => ({
    update_number: updateNumber,
    episode_id: episodeId(ordinal),
    advantage_mean: ordinal,
  });

  it('tells what fed an update and which updates used an episode, with every column', async () => {
    await commit(1, [0, 1]);
    await commit(2, [2, 1]);
    await catchUp(store.log, store.client);
    expect(await inputs('update_number = 2')).toEqual([row(2, 2), row(2, 1)]);
    expect(await inputs(`episode_id = '${episodeId(1)}'`)).toEqual([row(1, 1), row(2, 1)]);
    const reader = store.openReader();
    expect((await reader.queryTable('SELECT * FROM update_inputs')).rows).toHaveLength(4);
    await reader.close();
    const [whole] = await store.client.queryRows(
      `SELECT * FROM update_inputs WHERE episode_id = '${episodeId(2)}'`,
    );
    expect(whole).toEqual({
      ...{ run_id: runId, update_number: 2, plan_id: planId(2), policy_version_in: 1, place: 0 },
      ...{ episode_run_id: runId, episode_id: episodeId(2), group_id: 'group', first_step: 0, num_steps: 3 },
      ...{ times: 1, num_tokens: 6, weight: null },
      ...{ advantage_mean: 2, advantage_deviation: 0.25, advantage_min: 1, advantage_max: 3 },
    });
  });

  it('leaves out what a trainer writes after another one claimed the run, also when sinks start between', async () => {
    await commit(1, [0]);
    await append(controlEvent(ids(), 'TrainerClaimed', { epoch: 1 }));
    await catchUp(store.log, store.client);
    await commit(2, [1], 0);
    await catchUp(store.log, store.client);
    await commit(2, [2], 1);
    await catchUp(store.log, store.client);
    expect(await inputs()).toEqual([row(1, 0), row(2, 2)]);
    const [applied] = await store.client.queryRows(
      'SELECT groupArray(update_number) AS numbers FROM (SELECT update_number FROM updates WHERE applied_at IS NOT NULL ORDER BY 1)',
    );
    expect(applied).toEqual({ numbers: [1, 2] });
  });

  it('has each row once although sinks stop between its two inserts', async () => {
    await commit(1, [0, 1]);
    let [numTraced, isBetween] = [0, false];
    const dying = overriding(store.client, {
      insertArrow: async (insert: Parameters<StoreClient['insertArrow']>[0]) => {
        if (isBetween) throw new RangeError('killed');
        await store.client.insertArrow(insert);
        isBetween = insert.table === TRACED_INPUTS;
        numTraced += Number(isBetween);
      },
    });
    await expect(catchUp(store.log, dying)).rejects.toThrow('killed');
    isBetween = false;
    await expect(catchUp(store.log, dying)).rejects.toThrow('killed');
    const [{ n }] = await store.client.queryRows<{ n: number }>(`SELECT count() AS n FROM ${TRACED_INPUTS}`);
    expect({ n, numTraced }).toEqual({ n: 4, numTraced: 2 });
    await catchUp(store.log, store.client);
    expect(await inputs()).toEqual([row(1, 0), row(1, 1)]);
    expect(await verifyStore({ log: store.log, client: store.client })).toMatchObject({ ok: true });
  });

  it(
    'is the same after a rebuild, of everything or of one run, whatever was there',
    { tags: 'release' },
    async () => {
      await commit(1, [0, 1]);
      await commit(2, [2]);
      await catchUp(store.log, store.client);
      const before = await inputs();
      const openClient = (database: string) =>
        createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });
      for (const options of [{}, { runId }]) {
        await store.client.command(`TRUNCATE TABLE ${TRACED_INPUTS}`);
        expect(await inputs()).toEqual([]);
        await rebuildStore({ log: store.log, client: store.client, openClient, ...options });
        expect(await inputs()).toEqual(before);
      }
      await rebuildStore({ log: store.log, client: store.client, openClient, runId: newRunId() });
      expect(await inputs()).toEqual(before);
    },
  );

  it(
    'loses an episode or a run with its deletion, and neither comes back with a rebuild',
    { tags: 'release' },
    async () => {
      await commit(1, [0, 1]);
      const job = { log: store.log, client: store.client, runId, detail: 'test', force: true };
      await deleteEpisodes({ ...job, episodeIds: [episodeId(1)] });
      expect(await inputs()).toEqual([row(1, 0)]);
      await commit(2, [0, 1]);
      await catchUp(store.log, store.client);
      const openClient = (database: string) =>
        createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });
      await rebuildStore({ log: store.log, client: store.client, openClient });
      expect(await inputs()).toEqual([row(1, 0), row(2, 0)]);
      await deleteRunRecords(job);
      expect(await inputs()).toEqual([]);
      await rebuildStore({ log: store.log, client: store.client, openClient });
      expect(await inputs()).toEqual([]);
    },
  );
});
