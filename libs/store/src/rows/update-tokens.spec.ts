import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendEvents, overriding } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newRunId, type UpdateTokensTraced, type UpdateTraced } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { createStoreClient, type StoreClient } from '../client/store-client.js';
import { rebuildStore } from '../rebuild/rebuild-store.js';
import { deleteEpisodes } from '../retention/delete-episodes.js';
import { deleteRunRecords } from '../retention/delete-run-records.js';
import { verifyStore } from '../verify/verify-store.js';

interface TokenRow {
  readonly update_number: number;
  readonly optimizer_step: number;
  readonly episode_id: string;
  readonly position: number;
  readonly ratio: number | null;
  readonly teacher_logprob: number | null;
  readonly teacher_top_ids: readonly number[];
}

/** Plans whose episodes are all of their own run. */
const OWN_GROUPS = {
  ...{ runIds: [], groupRuns: null, groupSources: null, groupRows: null },
  ...{ episodeGroups: null, groupWeights: null },
};

describe('update_tokens', () => {
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

  /** Plans and commits an update of episodes 0 and 1, one token of each in two events. Ratios name epoch and episode. */
  async function commit(updateNumber: number, epoch = 0): Promise<void> {
    const key = { planId: planId(updateNumber), updateNumber, epoch };
    const counts = (value: number) => Int32Array.of(value, value);
    const figures = (value: number) => Float32Array.of(value, value);
    const traced: UpdateTraced = {
      ...{ ...key, policyVersionIn: updateNumber - 1, runIds: [runId], groupIds: ['group'] },
      ...{ episodeRuns: counts(0), episodeGroups: counts(0), episodeIds: [episodeId(0), episodeId(1)] },
      episodeDigests: [],
      ...{ firstSteps: counts(0), numSteps: counts(3), times: counts(1), numTokens: counts(1) },
      ...{ weights: figures(1), advantageMeans: figures(1), advantageDeviations: figures(0) },
      ...{ advantageMins: figures(1), advantageMaxs: figures(1) },
      ...{ stepLosses: Float64Array.of(0.5, 0.5), stepGradientNorms: Float64Array.of(2, 2) },
    };
    await append(controlEvent(ids(), 'BatchPlanned', { ...key, groupIds: [], ...OWN_GROUPS }));
    await append(
      controlEvent(ids(), 'UpdateTraced', traced),
      ...[0, 1].map((part) => controlEvent(ids(), 'UpdateTokensTraced', { ...key, ...tokenOf(part, epoch) })),
      controlEvent(ids(), 'UpdateApplied', { ...key, policyVersionOut: updateNumber }),
    );
  }

  function tokenOf(
    part: number,
    epoch: number,
  ): Omit<UpdateTokensTraced, 'planId' | 'epoch' | 'updateNumber'> {
    return {
      ...{ part, optimizerSteps: Int32Array.of(part + 1), episodes: Int32Array.of(part) },
      ...{ steps: Int32Array.of(2), positions: Int32Array.of(4 + part), clipped: Uint8Array.of(part) },
      ...{ ratios: Float32Array.of(epoch + part / 2), advantages: Float32Array.of(-0.5) },
      ...{ values: Float32Array.of(NaN), kls: Float32Array.of(0.25), entropies: Float32Array.of(0.125) },
      // Only the second part has a teacher.
      teacherLogprobs: part === 0 ? null : Float32Array.of(-1.5),
      teacherTopIds: part === 0 ? null : Int32Array.of(7, 9),
      teacherTopLogprobs: part === 0 ? null : Float32Array.of(-0.5, NaN),
    };
  }

  const tokens = (condition = '1') =>
    store.client.queryRows<TokenRow>(
      `SELECT update_number, optimizer_step, episode_id, position, ratio, teacher_logprob, teacher_top_ids FROM update_tokens
       WHERE ${condition} ORDER BY update_number, optimizer_step`,
    );
  const row = (updateNumber: number, part: number, epoch = 0): TokenRow => ({
    update_number: updateNumber,
    optimizer_step: part + 1,
    episode_id: episodeId(part),
    position: 5 + part,
    ratio: epoch + part / 2,
    teacher_logprob: part === 0 ? null : -1.5,
    teacher_top_ids: part === 0 ? [] : [7, 9],
  });

  it('has a row for each token of each optimizer step, with every column, also for the read-only user', async () => {
    await commit(1);
    await commit(2);
    await catchUp(store.log, store.client);
    expect(await tokens('update_number = 2')).toEqual([row(2, 0), row(2, 1)]);
    expect(await tokens(`episode_id = '${episodeId(1)}'`)).toEqual([row(1, 1), row(2, 1)]);
    const reader = store.openReader();
    expect((await reader.queryTable('SELECT * FROM update_tokens')).rows).toHaveLength(4);
    await reader.close();
    const [whole] = await store.client.queryRows(
      'SELECT * FROM update_tokens WHERE update_number = 2 AND clipped',
    );
    expect(whole).toEqual({
      ...{ run_id: runId, update_number: 2, optimizer_step: 2, plan_id: planId(2), episode_run_id: runId },
      ...{ episode_id: episodeId(1), group_id: 'group', step: 2, position: 6, ratio: 0.5, advantage: -0.5 },
      ...{ value: null, kl: 0.25, entropy: 0.125, teacher_logprob: -1.5, clipped: true },
      ...{ teacher_top_ids: [7, 9], teacher_top_logprobs: [-0.5, null] },
    });
  });

  it('leaves out what a trainer writes after another one claimed the run', async () => {
    await commit(1);
    await append(controlEvent(ids(), 'TrainerClaimed', { epoch: 1 }));
    await commit(2, 0);
    await commit(2, 1);
    await catchUp(store.log, store.client);
    expect(await tokens()).toEqual([row(1, 0), row(1, 1), row(2, 0, 1), row(2, 1, 1)]);
  });

  it('has each row once although sinks stop after an insert that landed', async () => {
    await commit(1);
    let numInserts = 0;
    const dying = overriding(store.client, {
      insertArrow: async (insert: Parameters<StoreClient['insertArrow']>[0]) => {
        await store.client.insertArrow(insert);
        numInserts += 1;
        throw new RangeError('killed');
      },
    });
    await expect(catchUp(store.log, dying)).rejects.toThrow('killed');
    await expect(catchUp(store.log, dying)).rejects.toThrow('killed');
    await catchUp(store.log, store.client);
    expect(numInserts).toBe(2);
    expect(await tokens()).toEqual([row(1, 0), row(1, 1)]);
    expect(await verifyStore({ log: store.log, client: store.client })).toMatchObject({ ok: true });
  });

  it('is the same after a rebuild, and loses an episode or a run with its deletion', async () => {
    await commit(1);
    await catchUp(store.log, store.client);
    const openClient = (database: string) =>
      createStoreClient({ url: store.url, username: 'retrace', password: 'fixture', database });
    const rebuild = (ofRun: { readonly runId?: string } = {}) =>
      rebuildStore({ log: store.log, client: store.client, openClient, ...ofRun });
    for (const ofRun of [{}, { runId }]) {
      await rebuild(ofRun);
      expect(await tokens()).toEqual([row(1, 0), row(1, 1)]);
    }
    const job = { log: store.log, client: store.client, runId, detail: 'test', force: true };
    await deleteEpisodes({ ...job, episodeIds: [episodeId(1)] });
    expect(await tokens()).toEqual([row(1, 0)]);
    await rebuild();
    expect(await tokens()).toEqual([row(1, 0)]);
    await deleteRunRecords(job);
    expect(await tokens()).toEqual([]);
  });
});
