import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { Sink, verifyStore } from '@retrace/store';
import { newRunId } from '@retrace/trajectory';
import { Recorder } from './recorder.js';

let store: StoreFixture;
let recorder: Recorder;
const stop = new AbortController();
let sinking: Promise<void>;

beforeAll(async () => {
  store = await openStoreFixture({ numTrajectoryPartitions: 2 });
  sinking = new Sink({ minInsertIntervalMs: 50, lingerMs: 5 }).run({
    log: store.log,
    client: store.client,
    signal: stop.signal,
  });
  recorder = await Recorder.open(store.log, store.client);
});

afterAll(async () => {
  await recorder?.close();
  stop.abort();
  await sinking;
  await store?.close();
});

const startRun = async (name = 'agents'): Promise<string> => (await recorder.startRun({ name })).runId;

const steps = (episode: string, count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, i) => ({
    type: 'step',
    episode,
    step: from + i,
    observation: `o${from + i}`,
    action: `a${from + i}`,
    reward: 0.5,
    tokens: { ids: [1, 2, 3], mask: [0, 1, 1], logprobs: [null, -0.1, -0.2], versions: [-1, 4, 5] },
    sampling: { temperature: 1 },
  }));

const untilStored = async (): Promise<void> => {
  const { untilVisible } = await import('@retrace/store');
  await untilVisible(store.log, store.client);
};

describe('recorder', () => {
  it('writes an episode with totals that its steps add up to, and SQL shows it', async () => {
    const runId = await startRun();
    const episode = newRunId();
    const records = [
      { type: 'episode', episode, task: { goal: 'x' }, tags: ['t'], metadata: { user: 1 } },
      ...steps(episode, 3),
      { type: 'end', episode, success: true, numSteps: 3 },
    ];
    expect(await recorder.append(runId, records)).toEqual({ accepted: 5, duplicates: 0 });
    await untilStored();
    const rows = await store.client.queryRows(
      `SELECT sealed, success, return, num_steps, num_tokens, num_action_tokens, policy_version_min, policy_version_max, tags
       FROM episodes WHERE run_id = {runId:String}`,
      { params: { runId } },
    );
    expect(rows).toEqual([
      {
        ...{ sealed: true, success: true, return: 1.5, num_steps: 3, num_tokens: 9, num_action_tokens: 6 },
        ...{ policy_version_min: 4, policy_version_max: 5, tags: ['t'] },
      },
    ]);
    const stored = await store.client.queryRows<{ kept: number; untrainable: string }>(
      'SELECT kept_prefix_tokens AS kept, untrainable FROM steps WHERE run_id = {runId:String} ORDER BY step',
      { params: { runId } },
    );
    expect(stored).toEqual([0, 3, 6].map((kept) => ({ kept, untrainable: '' })));
  });

  it('counts records that come again once, also after a restart', async () => {
    const runId = await startRun();
    const episode = 'my episode';
    const records = [{ type: 'episode', episode }, ...steps(episode, 3)];
    await recorder.append(runId, records);
    expect(await recorder.append(runId, records)).toEqual({ accepted: 4, duplicates: 4 });
    const other = await Recorder.open(store.log, store.client);
    expect(await other.append(runId, [...records, ...steps(episode, 1, 3)])).toEqual({
      accepted: 5,
      duplicates: 4,
    });
    // The first has not seen that the other wrote step 3, writes it again and finds that it is the same.
    const rest = [...steps(episode, 2, 3), { type: 'end', episode }];
    expect(await recorder.append(runId, rest)).toMatchObject({ accepted: 3 });
    expect(await other.append(runId, [{ type: 'end', episode }])).toMatchObject({ accepted: 1 });
    await expect(other.append(runId, steps(episode, 1, 5))).rejects.toMatchObject({ code: 'EPISODE_ENDED' });
    await other.close();
    await untilStored();
    expect(await verifyStore({ log: store.log, client: store.client })).toMatchObject({ faults: [] });
  });

  it('takes a batch as a whole or not at all', async () => {
    const runId = await startRun();
    const episode = newRunId();
    const batch = [{ type: 'episode', episode }, ...steps(episode, 2), ...steps(episode, 1, 5)];
    await expect(recorder.append(runId, batch)).rejects.toMatchObject({
      code: 'STEP_OUT_OF_ORDER',
      faults: [{ index: 3, field: 'step', value: 5, rule: 'must be 2, the next step of the episode' }],
    });
    await expect(recorder.append(runId, steps(episode, 1))).rejects.toMatchObject({
      code: 'EPISODE_UNKNOWN',
    });
    await untilStored();
    const rows = await store.client.queryRows('SELECT 1 FROM episodes WHERE run_id = {runId:String}', {
      params: { runId },
    });
    expect(rows).toEqual([]);
  });

  it('closes a group when the run ends if all announced members have ended with sampled tokens, and others later', async () => {
    const runId = await startRun();
    const member = (
      groupId: string,
      groupMember: number,
      records: (episode: string) => object[],
    ): object[] => {
      const episode = `${groupId} ${groupMember}`;
      return [{ type: 'episode', episode, groupId, groupSize: 2, groupMember }, ...records(episode)];
    };
    const whole = (episode: string): object[] => [...steps(episode, 2), { type: 'end', episode }];
    const abandoned = { type: 'end', endReason: 'abandoned', detail: 'crashed' };
    await recorder.append(runId, [
      ...[...member('full', 1, whole), ...member('full', 0, whole)],
      ...[...member('running', 0, whole), ...member('running', 1, (episode) => steps(episode, 1))],
      ...member('late', 0, whole),
      ...member('abandoned', 0, whole),
      ...member('abandoned', 1, (episode) => [...steps(episode, 1), { ...abandoned, episode }]),
      ...member('texts', 0, (episode) => [
        { type: 'step', episode, step: 0, action: 'a' },
        { type: 'end', episode },
      ]),
      ...member('texts', 1, (episode) => [{ type: 'end', episode }]),
      ...member('greedy', 0, whole),
      ...member('greedy', 1, (episode) => [
        { ...steps(episode, 1)[0], untrainable: 'greedy' },
        { type: 'end', episode },
      ]),
    ]);
    const end = () => recorder.endRun(runId, { reason: 'finished' });
    expect(await end()).toEqual({ closedGroups: 2 });
    await recorder.append(runId, [
      ...member('late', 1, whole),
      ...[...steps('running 1', 1, 1), { type: 'end', episode: 'running 1' }],
    ]);
    expect(await end()).toEqual({ closedGroups: 2 });
    expect(await end()).toEqual({ closedGroups: 0 });
    await untilStored();
    const rows = await store.client.queryRows(
      `SELECT group_id, reason, trainable, group_size, num_steps FROM groups WHERE run_id = {runId:String} ORDER BY group_id`,
      { params: { runId } },
    );
    const closed = { reason: 'complete', group_size: 2 };
    expect(rows).toEqual([
      { ...closed, group_id: 'full', trainable: true, num_steps: [2, 2] },
      { ...closed, group_id: 'greedy', trainable: false, num_steps: [2, 1] },
      { ...closed, group_id: 'late', trainable: true, num_steps: [2, 2] },
      { ...closed, group_id: 'running', trainable: true, num_steps: [2, 2] },
    ]);
  });
});
