import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC, type Table } from 'apache-arrow';
import { createStoreClient, verifyStore, type StoreClient } from '@retrace/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApiConfig } from '../apps/api/src/config/api-config.js';
import { startApiServer } from '../apps/api/src/server.js';
import { ApiFixture } from '../apps/api/src/testing/api-fixture.js';
import { installation } from '../apps/cli/src/installation.js';
import { findRunReferences } from '../libs/store/src/retention/run-references.js';

const SCRIPT = installation.program('questions');
const GROUPS = [
  [1, 0],
  [0.25, 0.75],
];
const WEIGHTS = { sha256: 'ab'.repeat(32), sizeBytes: 1_000 };

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly rule: string }[];
}

interface TrainedEpisode {
  readonly episode: string;
  readonly [field: string]: unknown;
}

let fixture: ApiFixture;
let client: StoreClient;

beforeAll(async () => {
  fixture = await ApiFixture.start({
    RETRACE_CHECKPOINT_DIRECTORY: '/nowhere',
    RETRACE_QUESTIONS_SCRIPT: SCRIPT,
  });
  client = createStoreClient({ url: fixture.store.url, username: 'retrace', password: 'full-secret' });
});

afterAll(async () => {
  await client?.close();
  await fixture?.close();
});

/** Rows of the store once it has what the log has. */
async function rows<Row>(query: string): Promise<Row[]> {
  await fixture.storeHasCaughtUp();
  return client.queryRows<Row>(query);
}

async function post<Answer>(path: string, body: unknown): Promise<Answer & { readonly status: number }> {
  const response = await fixture.post(path, body);
  return { ...((await response.json()) as Answer), status: response.status };
}

/** Records two groups of two episodes, sampled by version 0; returns the run, whose episodes the store has. */
async function recordAndWait(): Promise<string> {
  const runId = await record();
  await fixture.storeHasCaughtUp();
  return runId;
}

async function record(): Promise<string> {
  const { runId } = await post<{ runId: string }>('/api/runs', { name: 'agent' });
  const records = GROUPS.flatMap((rewards, group) =>
    rewards.flatMap((reward, member) => {
      const episode = `g${group}-${member}`;
      const tokens = { ids: [5, 6, 7 + member], mask: [0, 1, 1], logprobs: [null, -0.5, -1 - group] };
      const step = { observation: 'a', action: 'b', reward, sampling: { temperature: 1 } };
      return [
        { type: 'episode', episode, groupId: `group ${group}`, groupSize: 2, environment: 'own', task: {} },
        {
          ...{ type: 'step', episode, step: 0, logprobMode: 'processed', ...step },
          tokens: { ...tokens, versions: [-1, 0, 0], keptPrefix: 0 },
        },
        { type: 'end', episode, success: reward > 0.5 },
      ];
    }),
  );
  expect(await post(`/api/runs/${runId}/records`, records)).toMatchObject({ accepted: 12 });
  return runId;
}

async function batchOf(runId: string, body: object = {}): Promise<Table> {
  const response = await fixture.post(`/api/runs/${runId}/batches`, body);
  if (response.status !== 200) throw new Error(await response.text());
  return tableFromIPC(new Uint8Array(await response.arrayBuffer()));
}

/** Says of the episodes of a batch what a trainer does. */
function trainedOn(batch: Table): TrainedEpisode[] {
  return Array.from(batch, (row) => {
    const { run_id, episode_id, episode_digest, reward, advantages, loss_mask } = (
      row as { toJSON: () => Readonly<Record<string, unknown>> }
    ).toJSON();
    const counted = [...(advantages as Iterable<number>)].filter((_, n) => [...(loss_mask as number[])][n]);
    const mean = counted.reduce((sum, value) => sum + value, 0) / counted.length;
    return {
      ...{ run: run_id, episode: episode_id as string, digest: episode_digest, reward },
      ...{ numTokens: counted.length, advantage: { mean, deviation: 0, min: mean, max: mean } },
    };
  });
}

const ENGINE = { kind: 'trl', version: 'trl 1.16.0', device: 'cpu', numProcesses: 2, precision: 'bfloat16' };

interface Trained {
  readonly runId: string;
  readonly body: { readonly episodes: TrainedEpisode[] };
}

/** A run whose version 0 is published, and what an update of its batch says. */
async function trained(): Promise<Trained> {
  const runId = await recordAndWait();
  await post(`/api/runs/${runId}/policies`, { policyVersion: 0, model: 'tiny' });
  const batch = await batchOf(runId);
  const start = { policyVersionIn: 0, engine: ENGINE };
  return { runId, body: { ...start, episodes: trainedOn(batch) } };
}

describe('an update of a trainer outside', () => {
  it('is there with its policy, metrics and episodes, as one that was made here', async () => {
    const runId = await recordAndWait();
    expect(
      await post(`/api/runs/${runId}/policies`, {
        policyVersion: 0,
        model: 'tiny',
        location: '/models/tiny',
      }),
    ).toMatchObject({ status: 201, policyVersion: 0 });
    const batch = await batchOf(runId);
    const said = JSON.parse(batch.schema.metadata.get('retrace') ?? '{}') as object;
    expect(said).toMatchObject({ runId, updateNumber: 1, policyVersionIn: 0, rewardVersion: /^[0-9a-f]+$/ });
    const episodes = trainedOn(batch);
    const body = {
      ...{ policyVersionIn: 0, engine: ENGINE, episodes, weights: WEIGHTS, location: 's3://models/1' },
      ...{ stepLosses: [0.5, null], stepGradientNorms: [2, 1], metrics: { 'train/loss': 0.375, gone: null } },
      batch: said,
    };
    expect(await post(`/api/runs/${runId}/updates`, body)).toMatchObject({
      ...{ status: 201, updateNumber: 1, policyVersion: 1 },
      planId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    await fixture.storeHasCaughtUp();
    expect(await fixture.getJson(`/api/runs/${runId}/updates/1`)).toMatchObject({
      ...{ stage: 'policy', policyVersionIn: 0, policyVersionOut: 1, numEpisodes: 4, engine: 'trl' },
      ...{ metrics: { 'train/loss': 0.375 }, weightsSha256: WEIGHTS.sha256 },
    });
    const policies = await fixture.getJson<{ items: object[] }>(`/api/runs/${runId}/policies`);
    expect(policies.items).toMatchObject([
      { policyVersion: 1, parentVersion: 0, updateNumber: 1, modelHash: 'tiny', location: 's3://models/1' },
      { policyVersion: 0, parentVersion: null, weightsSha256: '', location: '/models/tiny' },
    ]);
    const inputs = await rows<{ episode: string; mean: number; tokens: number }>(
      `SELECT episode_id AS episode, advantage_mean AS mean, num_tokens AS tokens FROM update_inputs WHERE run_id = '${runId}' AND update_number = 1 ORDER BY place`,
    );
    expect(inputs.map(({ episode }) => episode)).toEqual(episodes.map(({ episode }) => episode));
    expect(inputs.every(({ tokens }) => tokens === 2)).toBe(true);
    episodes.forEach(({ advantage }, e) =>
      expect(inputs[e].mean).toBeCloseTo((advantage as { mean: number }).mean, 5),
    );
    const lineage = await fixture.getJson(`/api/runs/${runId}/updates/1/lineage`);
    expect(lineage).toMatchObject({ sampledBy: [{ policyVersion: 0, numEpisodes: 4 }] });
    const groups = await rows<{ group_id: string }>(
      `SELECT group_id FROM update_groups WHERE run_id = '${runId}' AND of_run_id = run_id ORDER BY group_id`,
    );
    expect(groups.map(({ group_id }) => group_id)).toEqual(['group 0', 'group 1']);
  });

  it('is recorded once, however often it is sent with its id, and has its batch again', async () => {
    const { runId, body } = await trained();
    const asked = { ...body, id: randomUUID() };
    const [first, second] = [
      await post(`/api/runs/${runId}/updates`, asked),
      await post(`/api/runs/${runId}/updates`, asked),
    ];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect({ ...second, status: 201 }).toEqual(first);
    const changed = await post<Problem>(`/api/runs/${runId}/updates`, { ...asked, stepLosses: [1] });
    expect(changed).toMatchObject({ status: 409, code: 'UPDATE_CONFLICT' });
    expect((await rows(`SELECT 1 FROM updates WHERE run_id = '${runId}'`)).length).toBe(1);
    expect(trainedOn(await batchOf(runId, { updateNumber: 1 }))).toEqual(body.episodes);
  });

  it(
    'may be made of episodes that have just ended, before the store has them',
    { tags: 'release' },
    async () => {
      const { runId } = await post<{ runId: string }>('/api/runs', { name: 'at once' });
      await post(`/api/runs/${runId}/policies`, { policyVersion: 0 });
      const source = await record();
      const episodes = ['g0-0', 'g0-1'].map((episode) => ({ run: source, episode }));
      const update = { policyVersionIn: 0, engine: ENGINE, episodes };
      expect(await post(`/api/runs/${runId}/updates`, update)).toMatchObject({ status: 201 });
    },
  );

  it(
    'may be made of episodes of another run, which keeps them, and come after the end of its own',
    { tags: 'release' },
    async () => {
      const { runId: source, body } = await trained();
      const { runId } = await post<{ runId: string }>('/api/runs', { name: 'training' });
      await post(`/api/runs/${runId}/policies`, { policyVersion: 0 });
      expect(await post(`/api/runs/${runId}/updates`, body)).toMatchObject({ status: 201, updateNumber: 1 });
      const used = await rows(
        `SELECT DISTINCT episode_run_id, group_id FROM update_inputs WHERE run_id = '${runId}' ORDER BY group_id`,
      );
      expect(used).toEqual(['group 0', 'group 1'].map((group_id) => ({ episode_run_id: source, group_id })));
      await post(`/api/runs/${source}/end`, { reason: 'finished' });
      const address = `${fixture.api.url}/api/runs/${source}/episodes/${body.episodes[0].episode}`;
      const response = await fetch(address, { method: 'DELETE' });
      const refused = { ...((await response.json()) as Problem), status: response.status };
      expect(refused).toMatchObject({ status: 409, code: 'EPISODES_REFERRED_TO' });
      const [first, ...others] = body.episodes;
      const otherReward = { ...body, episodes: [{ ...first, reward: 7 }, ...others] };
      expect(await post(`/api/runs/${runId}/updates`, otherReward)).toMatchObject({ status: 201 });
      await fixture.storeHasCaughtUp();
      const again = await batchOf(runId, { updateNumber: 2 });
      expect(trainedOn(again).map(({ episode, reward }) => [episode, reward])).toEqual(
        body.episodes.map(({ episode, reward }) => [episode, reward]),
      );
      // Its own trainer may go on after the end, which stays.
      expect(await post(`/api/runs/${source}/updates`, body)).toMatchObject({ status: 201, updateNumber: 1 });
      expect(await rows(`SELECT end_reason FROM runs WHERE run_id = '${source}'`)).toEqual([
        { end_reason: 'finished' },
      ]);
      // Neither named its weights, which says nothing of whether one started from the other.
      expect(await findRunReferences(client, source)).toEqual([
        { runId, how: 'trained on its episodes in 2 updates' },
      ]);
    },
  );
});

describe('an update that is sent wrongly', () => {
  let run: Trained;
  beforeAll(async () => {
    run = await trained();
  });

  it.each<[object, string, string, RegExp]>([
    [
      { policyVersionIn: 3 },
      'POLICY_UNKNOWN',
      '',
      /policyVersionIn is 3; run \S+ has published versions 0 to 0/,
    ],
    [{ updateNumber: 4 }, 'UPDATE_CONFLICT', '', /updateNumber is 4; the next update of run \S+ is 1/],
    [{ episodes: [] }, 'INVALID_REQUEST', 'episodes', /must have an element/],
    [
      { episodes: [{ episode: 'g0-0' }, { episode: 'g0-0' }] },
      'INVALID_REQUEST',
      'episodes[1].episode',
      /once/,
    ],
    [
      { episodes: [{ episode: 'g9' }] },
      'EPISODE_UNKNOWN',
      'episodes[0].episode',
      /of run \S+ that has ended/,
    ],
    [
      { episodes: [{ episode: 'g0-0', digest: 'x' }] },
      'INVALID_REQUEST',
      'episodes[0].digest',
      /16 lower-case/,
    ],
    [{ engine: {} }, 'INVALID_REQUEST', 'engine.kind', /must be given/],
    [{ weights: { sha256: '' } }, 'INVALID_REQUEST', 'weights.sizeBytes', /must be given/],
    [{ stepLosses: [1], stepGradientNorms: [] }, 'INVALID_REQUEST', 'stepGradientNorms', /length/],
    [{ losses: [1] }, 'INVALID_REQUEST', 'losses', /no such field/],
  ])('is refused with its reason: %j', async (change, code, field, reason) => {
    const problem = await post<Problem>(`/api/runs/${run.runId}/updates`, { ...run.body, ...change });
    expect(problem).toMatchObject({ code, detail: expect.stringMatching(reason) as string });
    expect(problem.errors?.[0].field ?? '').toContain(field);
    expect(await rows(`SELECT 1 FROM updates WHERE run_id = '${run.runId}'`)).toEqual([]);
  });

  it(
    'may name as many episodes as its schema says, with all that is known of each',
    { tags: 'release' },
    async () => {
      const whole = {
        ...{ run: run.runId, times: 1, numTokens: 512, weight: 0.1234567, reward: 0.1234567 },
        ...{
          digest: '0123456789abcdef',
          advantage: { mean: -0.1234567, deviation: 1.234567, min: -1, max: 1 },
        },
      };
      const episodes = Array.from({ length: 4_097 }, () => ({ ...whole, episode: randomUUID() }));
      const send = (some: readonly object[]) =>
        post<Problem>(`/api/runs/${run.runId}/updates`, { ...run.body, episodes: some });
      expect(await send(episodes)).toMatchObject({
        ...{ status: 400, code: 'INVALID_REQUEST' },
        detail: expect.stringMatching(/must have at most 4096 elements/) as string,
      });
      expect(await send(episodes.slice(1))).toMatchObject({ status: 409, code: 'EPISODE_UNKNOWN' });
    },
  );

  it('needs the policy that it starts from', async () => {
    const runId = await record();
    const problem = await post<Problem>(`/api/runs/${runId}/updates`, run.body);
    expect(problem).toMatchObject({ status: 409, code: 'POLICY_UNKNOWN' });
    expect(problem.detail).toMatch(
      /has published no policy yet; publish the one that training starts from first/,
    );
  });
});

describe('a policy of a trainer outside', () => {
  it('is published once under its number, and only as the next one', async () => {
    const { runId } = await post<{ runId: string }>('/api/runs', { name: 'policies' });
    const path = `/api/runs/${runId}/policies`;
    const first = { policyVersion: 0, weights: WEIGHTS, model: 'tiny' };
    expect([(await post(path, first)).status, (await post(path, first)).status]).toEqual([201, 200]);
    expect(await post(path, { ...first, model: 'other' })).toMatchObject({ code: 'UPDATE_CONFLICT' });
    expect(await post(path, { policyVersion: 2 })).toMatchObject({
      ...{ code: 'UPDATE_CONFLICT' },
      detail: expect.stringMatching(/the next version of run \S+ is 1/) as string,
    });
    expect(await post(path, { policyVersion: 1, parentVersion: 0 })).toMatchObject({
      status: 201,
      policyVersion: 1,
    });
    expect(await post(path, { policyVersion: 2, parentVersion: 7 })).toMatchObject({
      code: 'POLICY_UNKNOWN',
    });
  });
});

describe('two servers', () => {
  it('record each update once, whichever gets it', { tags: 'release' }, async () => {
    const { runId, body } = await trained();
    const other = await startApiServer(readApiConfig({ ...fixture.environment, RETRACE_SINK: 'off' }));
    await other.storeReady;
    const send = async (url: string, id: string): Promise<number> => {
      for (;;) {
        const response = await fetch(`${url}/api/runs/${runId}/updates`, {
          ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
          body: JSON.stringify({ ...body, id, metrics: { loss: 1 } }),
        });
        if (response.ok) return ((await response.json()) as { updateNumber: number }).updateNumber;
        expect([503], await response.clone().text()).toContain(response.status);
        await sleep(Math.random() * 200);
      }
    };
    try {
      const urls = [fixture.api.url, other.url];
      const numbers = await Promise.all(Array.from({ length: 4 }, (_, i) => send(urls[i % 2], randomUUID())));
      expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    } finally {
      await other.close();
    }
    const versions = await rows<{ version: number; parent: number; made: number }>(
      `SELECT policy_version AS version, parent_version AS parent, update_number AS made FROM policies WHERE run_id = '${runId}' AND policy_version > 0 ORDER BY version`,
    );
    expect(versions.map(({ version, made }) => [version, made])).toEqual(
      Array.from({ length: 4 }, (_, i) => [i + 1, i + 1]),
    );
    const drawn = await rows<{ step: number }>(
      `SELECT step FROM metrics WHERE run_id = '${runId}' AND name = 'loss' ORDER BY step`,
    );
    expect(drawn.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  });
});

describe('retrace verify', () => {
  it('holds the store against what a trainer outside says that it read', { tags: 'release' }, async () => {
    await fixture.storeHasCaughtUp();
    expect((await verifyStore({ log: fixture.log, client })).faults).toEqual([]);
    const { runId, body } = await trained();
    const [first, ...others] = body.episodes;
    const episodes = [{ ...first, digest: '0'.repeat(16) }, ...others];
    await post(`/api/runs/${runId}/updates`, { ...body, episodes });
    await fixture.storeHasCaughtUp();
    const { faults } = await verifyStore({ log: fixture.log, client });
    expect(faults).toMatchObject([{ code: 'TRAINED_EPISODE_DIFFERS', where: `run ${runId}` }]);
  });
});
