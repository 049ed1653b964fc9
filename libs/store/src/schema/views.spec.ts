import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { openStoreWithSink, type StoreWithSink } from '../sink/store-with-sink.contract.js';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/sql.md');

describe('views', () => {
  let store: StoreWithSink;

  beforeAll(async () => {
    store = await openStoreWithSink();
  });

  afterAll(async () => {
    await store.close();
  });

  const startedRuns = new Set<string>();

  /** Their run is started first, where it is not: events of unknown runs don't show. */
  async function bring(events: readonly AnyEvent[]): Promise<void> {
    const [{ runId }] = events;
    const isKnown = startedRuns.has(runId) || events.some(({ kind }) => kind === 'RunStarted');
    startedRuns.add(runId);
    if (!isKnown) await bring([controlEvent(idsOf(runId), 'RunStarted')]);
    await store.bring(events);
  }

  function idsOf(runId: string): { logId: string; runId: string } {
    return { logId: store.log.logId, runId };
  }

  it('show a resumed run as not ended, until it ends again', async () => {
    const ids = idsOf(newRunId());
    const read = () =>
      store.client.queryRows(
        'SELECT name, seed, end_reason, end_detail FROM runs WHERE run_id = {runId:String}',
        {
          params: { runId: ids.runId },
        },
      );
    await bring([controlEvent(ids, 'RunStarted'), controlEvent(ids, 'TrainerClaimed', { epoch: 1 })]);
    const open = { name: 'frozen-lake-ppo', seed: 7, end_reason: null, end_detail: null };
    expect(await read()).toEqual([open]);
    await bring([controlEvent(ids, 'RunEnded', { reason: 'stopped', detail: 'by hand' })]);
    expect(await read()).toEqual([{ ...open, end_reason: 'stopped', end_detail: 'by hand' }]);
    // A claim of an epoch that was claimed before is void; a higher one resumes the run.
    await bring([controlEvent(ids, 'TrainerClaimed', { epoch: 1 })]);
    expect(await read()).toMatchObject([{ end_reason: 'stopped' }]);
    await bring([controlEvent(ids, 'TrainerClaimed', { epoch: 2 })]);
    expect(await read()).toEqual([open]);
    await bring([controlEvent(ids, 'RunEnded', { reason: 'finished' })]);
    expect(await read()).toMatchObject([{ end_reason: 'finished' }]);
  });

  it('show a silence as ended, also where its record comes again', async () => {
    const ids = idsOf('');
    const rule = newRunId();
    const untilUs = (inMs: number) => (Date.now() + inMs) * 1000;
    const silence = controlEvent(ids, 'AlarmSilenced', { rule, untilUs: untilUs(3_600_000), note: 'held' });
    const end = controlEvent({ ...ids, occurredAtUs: silence.occurredAtUs + 1 }, 'AlarmSilenced', {
      rule,
      untilUs: untilUs(-1),
      note: 'ended',
    });
    for (const event of [silence, end, silence]) await store.bring([event]);
    const rows = await store.client.queryRows('SELECT note FROM alarm_silences WHERE rule = {rule:String}', {
      params: { rule },
    });
    expect(rows).toEqual([{ note: 'ended' }]);
  });

  it('estimate the values of a step and of its actions from forks, with intervals', async () => {
    const ids = idsOf(newRunId());
    const [runId, episodeId] = [newRunId(), uuid(77)];
    const metadata = { fork: { policy: 'expert', greedy: false, forced: false, chance: 'own' } };
    const forced = { fork: { ...metadata.fork, forced: true } };
    const repeated = { fork: { ...metadata.fork, chance: 'parent' } };
    const forks = [
      ...[1, 0, 1, 1].map((reward) => ({ action: 'left', reward, metadata, success: reward === 1 })),
      { action: 'up', reward: 0.5, metadata, success: false },
      { action: 'up', reward: 0.25, metadata: forced, success: null },
      { action: 'up', reward: 9, metadata: repeated, success: true },
    ];
    // The last two have the chance of the first and of the forced one: the same commands, run twice.
    const twice = [...forks, forks[0], forks[5]];
    for (const [ordinal, { action, reward, success, ...started }] of twice.entries()) {
      const samplingSeed = ordinal < forks.length ? ordinal : [0, 5][ordinal - forks.length];
      await bring(
        episodeEvents({
          ...{ ...ids, ordinal, numSteps: 2, ended: { success } },
          step: (step) => ({ action: step === 0 ? action : 'down', reward: step === 0 ? reward : 0 }),
          started: { ...started, samplingSeed, forkedFrom: { episodeId, step: 3 }, forkedFromRunId: runId },
        }),
      );
    }
    const read = (columns: string, view: string) =>
      store.client.queryRows<Record<string, unknown>>(
        `SELECT ${columns} FROM ${view} WHERE run_id = {runId:String} AND episode_id = {episodeId:String}`,
        { params: { runId, episodeId } },
      );
    const listed = await read('fork_run_id, step, policy, forced, action, return', 'forks');
    expect(listed).toHaveLength(9);
    const fork = {
      fork_run_id: ids.runId,
      step: 3,
      policy: 'expert',
      forced: true,
      action: 'up',
      return: 0.25,
    };
    expect(listed).toContainEqual(fork);
    const values = await read(
      'action, num_forks, mean_return, return_low, return_high, success_rate, success_low, success_high',
      '(SELECT * FROM step_values ORDER BY action IS NOT NULL, action)',
    );
    // By hand, with Student's quantiles 2.7764, 3.1824 and 12.7062 of a printed table: 0.7 ± 2.7764 · √0.2 / √5, …
    expect(values.map(({ action, num_forks, mean_return }) => [action, num_forks, mean_return])).toEqual([
      [null, 5, 0.7],
      ['left', 4, 0.75],
      ['up', 2, 0.375],
    ]);
    const rounded = (value: unknown) => (value === null ? null : Number((value as number).toFixed(4)));
    const ends = values.map((row) =>
      [row.return_low, row.return_high, row.success_rate, row.success_low, row.success_high].map(rounded),
    );
    expect(ends).toEqual([
      [0.1447, 1.2553, 0.6, 0.2307, 0.8824],
      [-0.0456, 1.5456, 0.75, 0.3006, 0.9544],
      [-1.2133, 1.9633, 0, 0, 0.7935],
    ]);
  });

  it('leave out plans, commits and policies of a trainer that had lost its claim', async () => {
    const ids = idsOf(newRunId());
    const plan = (planId: string, epoch: number, updateNumber: number) =>
      controlEvent(ids, 'BatchPlanned', { planId, epoch, updateNumber, policyVersionIn: updateNumber });
    const commit = (planId: string, epoch: number, updateNumber: number) =>
      controlEvent(ids, 'UpdateApplied', { planId, epoch, updateNumber, policyVersionOut: updateNumber + 1 });
    const publish = (policyVersion: number, epoch: number) =>
      controlEvent(ids, 'PolicyPublished', {
        policyVersion,
        epoch,
        parentVersion: policyVersion === 0 ? null : policyVersion - 1,
      });
    const committed = commit(uuid(1), 1, 0);
    await bring([
      publish(0, 0),
      controlEvent(ids, 'TrainerClaimed', { epoch: 1 }),
      publish(0, 1),
      plan(uuid(1), 1, 0),
      committed,
      committed,
      publish(1, 1),
      plan(uuid(2), 1, 1),
      controlEvent(ids, 'TrainerClaimed', { epoch: 2 }),
      commit(uuid(2), 1, 1),
      publish(2, 1),
      plan(uuid(3), 1, 2),
      plan(uuid(4), 2, 2),
      plan(uuid(5), 2, 2),
    ]);
    const params = { params: { runId: ids.runId } };
    const updates = () =>
      store.client.queryRows(
        `SELECT update_number, plan_id, epoch, policy_version_in, policy_version_out, num_episodes, applied_at IS NOT NULL AS applied
         FROM updates WHERE run_id = {runId:String} ORDER BY update_number`,
        params,
      );
    const policies = () =>
      store.client.queryRows(
        'SELECT policy_version, parent_version FROM policies WHERE run_id = {runId:String} ORDER BY policy_version',
        params,
      );
    const row = { epoch: 1, num_episodes: 2, applied: 0, policy_version_out: null };
    expect(await updates()).toEqual([
      { ...row, update_number: 0, plan_id: uuid(1), policy_version_in: 0, policy_version_out: 1, applied: 1 },
      { ...row, update_number: 1, plan_id: uuid(2), policy_version_in: 1 },
      { ...row, update_number: 2, plan_id: uuid(4), policy_version_in: 2, epoch: 2 },
    ]);
    expect(await policies()).toEqual([
      { policy_version: 0, parent_version: null },
      { policy_version: 1, parent_version: 0 },
    ]);

    // Whoever trains next redoes the plan that was left open, under its own epoch.
    await bring([commit(uuid(2), 2, 1), publish(2, 2)]);
    expect(await updates()).toMatchObject([{}, { update_number: 1, policy_version_out: 2, applied: 1 }, {}]);
    expect(await policies()).toHaveLength(3);
  });

  it('shows the baselines that were measured first beside a run, and before that those that it was started with', async () => {
    const ids = idsOf(newRunId());
    await bring([controlEvent(ids, 'RunStarted', { baselines: [] })]);
    const baselines = async () => {
      const [row] = await store.client.queryRows<{ baselines: string }>(
        'SELECT baselines FROM runs WHERE run_id = {runId:String}',
        { params: { runId: ids.runId } },
      );
      return JSON.parse(row.baselines) as unknown;
    };
    expect(await baselines()).toEqual([]);
    const measured = [{ name: 'expert', success: 0.5, numEpisodes: 10, split: 'validation' as const }];
    await bring([
      controlEvent(ids, 'BaselinesMeasured', { baselines: measured }),
      controlEvent(ids, 'BaselinesMeasured', { baselines: [] }),
    ]);
    expect(await baselines()).toEqual(measured);
  });

  it('show the first validation of a policy version on each split, a row for each decoding and family', async () => {
    const ids = idsOf(newRunId());
    const figures = { numTasks: 2, numEpisodes: 8, numSuccesses: 6, numUnknown: 0, numFailed: 1 };
    const row = {
      ...{ decoding: 'sampled' as const, family: null, ...figures, successRate: 0.75, successLow: 0.25 },
      passAtK: [
        { k: 1, pass: 0.75, numTasks: 2 },
        { k: 4, pass: 1, numTasks: 2 },
      ],
      ...{ successHigh: 0.96875, meanReturn: null },
    };
    const validated = (split: 'validation' | 'test', numSuccesses: number) =>
      controlEvent(ids, 'PolicyValidated', {
        ...{ policyVersion: 3, updateNumber: 30, split, seconds: 1.5 },
        rows: [
          { ...row, numSuccesses },
          { ...row, family: 'hard', successRate: null, passAtK: [] },
        ],
      });
    await bring([
      controlEvent(ids, 'RunStarted'),
      validated('validation', 6),
      validated('validation', 5),
      validated('test', 4),
    ]);
    const rows = await store.client.queryRows<Record<string, unknown>>(
      'SELECT * EXCEPT (run_id, validated_at) FROM validations WHERE run_id = {runId:String} ORDER BY split, family IS NULL DESC',
      { params: { runId: ids.runId } },
    );
    expect(rows).toHaveLength(4);
    expect(rows.map(({ split, family, num_successes }) => [split, family, num_successes])).toEqual([
      ['test', null, 4],
      ['test', 'hard', 6],
      ['validation', null, 6],
      ['validation', 'hard', 6],
    ]);
    expect(rows[2]).toMatchObject({
      ...{ policy_version: 3, update_number: 30, decoding: 'sampled', success: 0.75, success_low: 0.25 },
      ...{
        success_high: 0.96875,
        pass_at_k: { 1: 0.75, 4: 1 },
        mean_return: null,
        seconds: 1.5,
        num_failed: 1,
      },
    });
    expect(rows[3]).toMatchObject({ success: null, pass_at_k: {} });
  });

  it('show metrics once, one row for each value, and those of an update as a map', async () => {
    const ids = idsOf(newRunId());
    const logged = controlEvent(ids, 'MetricsLogged', {
      source: 'collector',
      step: 3,
      names: ['rollout/success', 'rollout/return'],
      values: Float64Array.of(0.5, NaN),
    });
    await bring([
      logged,
      logged,
      controlEvent(ids, 'TrainerClaimed', { epoch: 1 }),
      controlEvent(ids, 'BatchPlanned', { epoch: 1 }),
      controlEvent(ids, 'UpdateApplied', { epoch: 1 }),
    ]);
    const params = { params: { runId: ids.runId } };
    expect(
      await store.client.queryRows(
        'SELECT source, step, name, value FROM metrics WHERE run_id = {runId:String} ORDER BY name',
        params,
      ),
    ).toEqual([
      { source: 'collector', step: 3, name: 'rollout/return', value: null },
      { source: 'collector', step: 3, name: 'rollout/success', value: 0.5 },
    ]);
    expect(
      await store.client.queryRows('SELECT metrics FROM updates WHERE run_id = {runId:String}', params),
    ).toEqual([{ metrics: { 'train/loss': 0.125, 'train/explainedVariance': null } }]);
  });

  it('show a warning once, that of a process without a run under no run', async () => {
    const ids = idsOf(newRunId());
    const warning = {
      source: 'trainer',
      severity: 'alarm',
      step: 3,
      message: 'nothing',
      numTimes: 4,
    } as const;
    const raised = controlEvent(ids, 'WarningRaised', warning);
    const ofNoRun = controlEvent({ ...ids, runId: '' }, 'WarningRaised', {
      ...warning,
      source: 'sink',
      step: null,
      message: ids.runId,
    });
    await bring([raised, raised, ofNoRun]);
    expect(
      await store.client.queryRows(
        `SELECT source, severity, step, message, num_times FROM warnings
         WHERE run_id = {runId:String} OR message = {runId:String} ORDER BY source`,
        { params: { runId: ids.runId } },
      ),
    ).toEqual([
      { source: 'sink', severity: 'alarm', step: null, message: ids.runId, num_times: 4 },
      { source: 'trainer', severity: 'alarm', step: 3, message: 'nothing', num_times: 4 },
    ]);
  });

  it('show an episode from its first event on, with null for what is not known yet', async () => {
    const runId = newRunId();
    const events = episodeEvents({ ...idsOf(runId), ordinal: 0, step: () => ({ reward: null }) });
    const read = () =>
      store.client.queryRows(
        `SELECT environment, split, sealed, end_reason, success, return, num_steps, num_tokens, policy_version_min, ended_at
         FROM episodes WHERE run_id = {runId:String}`,
        { params: { runId } },
      );
    await bring(events.slice(0, 2));
    const unknown = { end_reason: null, success: null, return: null, num_steps: null, num_tokens: null };
    const started = { environment: 'frozen-lake', split: 'train', policy_version_min: null, ended_at: null };
    expect(await read()).toEqual([{ ...started, ...unknown, sealed: false }]);
    await bring(events.slice(2));
    expect(await read()).toMatchObject([
      {
        sealed: true,
        end_reason: 'truncated',
        success: true,
        return: null,
        num_steps: 3,
        policy_version_min: 3,
      },
    ]);
  });

  it('show the first record of a place in log order, and list the others as dead letters', async () => {
    const runId = newRunId();
    const events = episodeEvents({ ...idsOf(runId), ordinal: 0 });
    const reward = (seq: number, value: number | null) =>
      episodeEvent(events[0], 'RewardAssigned', seq, { value }) as AnyEvent;
    const changed = (at: number, fields: object) =>
      ({ ...events[at], payload: { ...events[at].payload, ...fields } }) as AnyEvent;
    await bring([
      ...events,
      reward(0, 1),
      // The same again, and measured slower: not another content.
      events[1],
      changed(1, { generationMs: 999 }),
      changed(0, { agent: 'expert' }),
      changed(2, { reward: 50 }),
      changed(4, { success: null }),
      reward(0, 2),
    ]);
    const params = { params: { runId } };
    expect(
      await store.client.queryRows(
        'SELECT code, event_kind FROM dead_letters WHERE run_id = {runId:String} ORDER BY log_offset',
        params,
      ),
    ).toEqual([
      { code: 'CONFLICT', event_kind: 'EpisodeStarted' },
      { code: 'CONFLICT', event_kind: 'StepRecorded' },
      { code: 'CONFLICT', event_kind: 'EpisodeEnded' },
      { code: 'CONFLICT', event_kind: 'RewardAssigned' },
    ]);
    expect(
      await store.client.queryRows(
        'SELECT agent, success FROM episodes WHERE run_id = {runId:String}',
        params,
      ),
    ).toEqual([{ agent: 'policy', success: true }]);
    expect(
      await store.client.queryRows(
        'SELECT step, reward FROM steps WHERE run_id = {runId:String} ORDER BY step',
        params,
      ),
    ).toEqual([0, 1, 2].map((step) => ({ step, reward: step })));
    expect(
      await store.client.queryRows(
        'SELECT seq, value FROM reward_assignments WHERE run_id = {runId:String}',
        params,
      ),
    ).toEqual([{ seq: 0, value: 1 }]);
  });

  it('show a recorded run: its kind, tags and metadata, and what its steps know', async () => {
    const ids = idsOf(newRunId());
    const recorded = {
      runKind: 'recorded',
      recipe: null,
      recipeHash: '',
      environment: '',
      baselines: [],
    } as const;
    await bring([controlEvent(ids, 'RunStarted', { ...recorded, tags: ['prod'], metadata: { team: 'x' } })]);
    const usage = {
      inputTokens: 812,
      cachedInputTokens: 0,
      outputTokens: null,
      reasoningTokens: null,
      costUsd: 0.5,
    };
    const messages = { input: [{ role: 'user', content: 'hi' }], output: null };
    const fields = { messages, usage, actionValid: null, generationMs: null, untrainable: 'no token ids' };
    await bring(
      episodeEvents({
        ...ids,
        ordinal: 0,
        numSteps: 2,
        step: (step) => (step === 0 ? fields : {}),
        started: { externalId: 'ticket 7', environmentSeed: null, samplingSeed: null, parentEpisodeId: null },
      }),
    );
    const read = (columns: string, view: string) =>
      store.client.queryRows(`SELECT ${columns} FROM ${view} WHERE run_id = {runId:String}`, {
        params: { runId: ids.runId },
      });
    expect(await read('kind, tags, metadata, environment, recipe, recipe_hash', 'runs')).toEqual([
      {
        kind: 'recorded',
        tags: ['prod'],
        metadata: '{"team":"x"}',
        environment: '',
        recipe: 'null',
        recipe_hash: '',
      },
    ]);
    expect(await read('external_id, environment_seed, sampling_seed, parent_episode_id', 'episodes')).toEqual(
      [{ external_id: 'ticket 7', environment_seed: null, sampling_seed: null, parent_episode_id: null }],
    );
    const columns =
      'messages, input_tokens, cached_input_tokens, output_tokens, cost_usd, untrainable, action_valid, generation_ms, environment_ms > 0 AS timed';
    const nothing = { input_tokens: null, cached_input_tokens: null, output_tokens: null, cost_usd: null };
    expect(await read(columns, '(SELECT * FROM steps ORDER BY step)')).toEqual([
      {
        ...{
          messages: JSON.stringify(messages),
          input_tokens: 812,
          cached_input_tokens: 0,
          output_tokens: null,
        },
        ...{ cost_usd: 0.5, untrainable: 'no token ids', action_valid: null, generation_ms: null, timed: 1 },
      },
      { messages: null, ...nothing, untrainable: '', action_valid: true, generation_ms: 4.25, timed: 1 },
    ]);
  });

  it('show the newest tags and metadata that an annotation gave, by time, and each field by itself', async () => {
    const runId = newRunId();
    const events = episodeEvents({
      ...idsOf(runId),
      ordinal: 0,
      started: { tags: ['a'], metadata: { n: 1 } },
    });
    const ids = { ...idsOf(runId), episodeId: events[0].episodeId };
    const annotate = (seq: number, occurredAtUs: number, payload: object) =>
      episodeEvent({ ...ids, occurredAtUs }, 'EpisodeAnnotated', seq, payload) as AnyEvent;
    const read = () =>
      store.client.queryRows('SELECT tags, metadata FROM episodes WHERE run_id = {runId:String}', {
        params: { runId },
      });
    await bring([annotate(5, 50, { tags: null, metadata: null })]);
    expect(await read()).toEqual([]);
    await bring(events);
    expect(await read()).toEqual([{ tags: ['a'], metadata: '{"n":1}' }]);
    await bring([annotate(1, 300, { tags: ['b', 'c'], metadata: null })]);
    expect(await read()).toEqual([{ tags: ['b', 'c'], metadata: '{"n":1}' }]);
    // One of an earlier time that comes later changes only what the later one left.
    await bring([annotate(2, 200, { tags: ['late'], metadata: { n: 2 } })]);
    expect(await read()).toEqual([{ tags: ['b', 'c'], metadata: '{"n":2}' }]);
    await bring([annotate(3, 300, { tags: [], metadata: null })]);
    expect(await read()).toEqual([{ tags: [], metadata: '{"n":2}' }]);
  });

  it('show of the rewards that revise each other the last in log order, and none that was retracted', async () => {
    const runId = newRunId();
    const events = episodeEvents({ ...idsOf(runId), ordinal: 0 });
    const reward = (seq: number, value: number | null, fields: object = {}) =>
      episodeEvent(events[0], 'RewardAssigned', seq, {
        name: 'judge',
        value,
        source: 'r1',
        ...fields,
      }) as AnyEvent;
    await bring(events);
    await bring([
      reward(10, 1),
      reward(7, 2),
      reward(10, 1),
      reward(20, 5, { source: 'r2' }),
      reward(21, 3, { step: 0 }),
      reward(22, null, { step: 0 }),
      reward(23, 4, { step: 1 }),
    ]);
    expect(
      await store.client.queryRows(
        'SELECT step, source, value FROM current_rewards WHERE run_id = {runId:String} ORDER BY step, source',
        { params: { runId } },
      ),
    ).toEqual([
      { step: 1, source: 'r1', value: 4 },
      { step: null, source: 'r1', value: 2 },
      { step: null, source: 'r2', value: 5 },
    ]);
  });

  it('show a group once, with its members', async () => {
    const ids = idsOf(newRunId());
    const closed = controlEvent(ids, 'GroupsClosed');
    await bring([closed, closed, controlEvent(ids, 'GroupsClosed', { reason: 'deadline' })]);
    const groups = await store.client.queryRows(
      'SELECT * EXCEPT (closed_at) FROM groups WHERE run_id = {runId:String} ORDER BY group_id',
      { params: { runId: ids.runId } },
    );
    const { groupIds, episodeIds } = closed.payload;
    const shared = { run_id: ids.runId, round: 0, split: 'train', reason: 'complete', trainable: true };
    expect(groups).toEqual([
      {
        ...shared,
        group_id: groupIds[0],
        group_size: 2,
        episode_ids: episodeIds.slice(0, 2),
        num_steps: [1, 4],
        policy_version_min: 3,
        policy_version_max: 4,
      },
      {
        ...shared,
        group_id: groupIds[1],
        group_size: 1,
        episode_ids: episodeIds.slice(2),
        num_steps: [2],
        policy_version_min: -1,
        policy_version_max: -1,
      },
    ]);
  });

  it('find one episode by reading a few granules instead of the whole run', async () => {
    const runId = newRunId();
    const filler = `
      INSERT INTO events (run_id, episode_id, seq, log_id, log_stream, log_offset, kind, observation)
      SELECT {runId:String}, leftPad(toString(intDiv(number, 10)), 36, '0'), number % 10, 'filler', 'trajectories', number,
        multiIf(number % 10 = 0, 'EpisodeStarted', number % 10 = 9, 'EpisodeEnded', 'StepRecorded'), repeat('x', 500)
      FROM numbers(50000)`;
    await store.client.command(filler, { params: { runId } });
    const plan = async (sql: string) => {
      const lines = await store.client.queryRows<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, {
        params: { runId },
      });
      const granules = lines
        .map(({ explain }) => /Granules: (\d+)\/(\d+)/.exec(explain))
        .find((found) => found !== null);
      return { read: Number(granules?.[1]), total: Number(granules?.[2]) };
    };
    for (const view of ['episodes', 'steps']) {
      const id = '2345'.padStart(36, '0');
      const { read, total } = await plan(
        `SELECT * FROM ${view} WHERE run_id = {runId:String} AND episode_id = '${id}'`,
      );
      expect(total).toBeGreaterThan(50);
      expect(read).toBeLessThanOrEqual(4);
    }
  });

  describe('in docs/sql.md', async () => {
    const document = await readFile(DOCUMENT, 'utf8');
    const examples = [...document.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) => sql.trim());

    beforeAll(async () => {
      const ids = idsOf(newRunId());
      for (let ordinal = 0; ordinal < 4; ordinal++) {
        const events = episodeEvents({ ...ids, ordinal, step: (step) => ({ actionValid: step !== 1 }) });
        await bring(events);
      }
      const [started] = episodeEvents({ ...ids, ordinal: 0 });
      await bring([episodeEvent(started, 'RewardAssigned', 0, { value: 0.5 }) as AnyEvent]);
      await bring([
        controlEvent(ids, 'RunStarted'),
        controlEvent(ids, 'TrainerClaimed', { epoch: 1 }),
        controlEvent(ids, 'BatchPlanned', {
          epoch: 1,
          episodeIds: [0, 1].map((ordinal) => episodeIdFor({ runId: ids.runId, ordinal })),
        }),
        controlEvent(ids, 'UpdateTraced', {
          ...{ epoch: 1, runIds: [ids.runId] },
          episodeIds: [0, 1].map((ordinal) => episodeIdFor({ runId: ids.runId, ordinal })),
        }),
        controlEvent(ids, 'UpdateTokensTraced', { epoch: 1 }),
        controlEvent(ids, 'UpdateApplied', { epoch: 1 }),
        controlEvent(ids, 'WarningRaised'),
        controlEvent(ids, 'MetricsLogged'),
      ]);
      // Two reward versions that disagree about two episodes, as `retrace score` writes them.
      for (const version of ['first', 'second']) {
        await store.client.command(
          `INSERT INTO reward_definitions VALUES ({runId:String}, {version:String}, {version:String}, '[]', now64(6))`,
          { params: { runId: ids.runId, version } },
        );
        await store.client.command(
          `INSERT INTO reward_scores (run_id, reward_version, episode_id, scored_at, total, component_names, component_weights, component_values, component_faults)
           SELECT {runId:String}, {version:String}, episode_id, now64(6), if({version:String} = 'first', 1, rowNumberInAllBlocks()),
             ['goal'], [1], [1], ['']
           FROM episodes WHERE run_id = {runId:String}`,
          { params: { runId: ids.runId, version } },
        );
      }
    });

    it('include every view of the store', async () => {
      const rows = await store.client.queryRows<{ name: string }>(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
      );
      const documented = rows.map(({ name }) => name).filter((name) => document.includes(`\`${name}\``));
      // Beside one, the views `stored_…` are for code that asks about one run.
      expect(documented.length).toBe(rows.length - 3);
    });

    it.each([
      'runs',
      'episodes',
      'steps',
      'groups',
      'reward_assignments',
      'current_rewards',
      'reward_versions',
      'scores',
      'updates',
      'update_inputs',
      'update_tokens',
      'policies',
      'validations',
      'metrics',
      'warnings',
      'alarm_acknowledgements',
      'alarm_silences',
      'datasets',
      'dataset_episodes',
      'forks',
      'step_values',
      'dead_letters',
    ])('have the columns that %s has', async (view) => {
      const rows = await store.client.queryRows<{ name: string }>(
        `SELECT name FROM system.columns WHERE table = {view:String} AND database = currentDatabase()`,
        {
          params: { view },
        },
      );
      for (const { name } of rows) expect(document).toContain(`\`${name}\``);
    });

    it.each(examples.map((sql) => [sql]))('answer as the read-only user: %s', async (sql) => {
      const reader = store.openReader();
      const rows = await reader.queryTable(sql);
      await reader.close();
      expect(rows.rows.length).toBeGreaterThan(0);
    });
  });
});

function uuid(n: number): string {
  return `01936d00-0000-7000-8000-${String(n).padStart(12, '0')}`;
}
