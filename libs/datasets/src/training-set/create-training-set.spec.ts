import { appendEvents } from '@retrace/log/testing';
import { catchUp, TrajectoryReader } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId, type StepRecorded } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTrainingSet, createTrainingSet } from './create-training-set.js';
import type { TrainingRules } from './training-rules.js';

const GROUP_SIZE = 2;
const TOKENIZER = 'aaaa';

describe('createTrainingSet', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const rules: TrainingRules = {
    tokenizerHash: TOKENIZER,
    temperature: 1,
    readsLogprobs: true,
    comparesGroups: 'advantage.estimator grpo',
  };
  const ids: string[] = [];

  /** Episode `ordinal` is member `ordinal % 2` of group `ordinal / 2`. */
  async function play(
    ordinal: number,
    {
      step = {},
      split = 'train' as const,
      end = true,
    }: {
      readonly step?: Partial<StepRecorded>;
      readonly split?: 'train' | 'test';
      readonly end?: boolean;
    } = {},
  ): Promise<string> {
    const events = episodeEvents({
      logId: store.log.logId,
      runId,
      ordinal,
      numSteps: 2,
      step: () => ({ tokenizerHash: TOKENIZER, reward: 1, ...step }),
      started: {
        split,
        groupId: `group-${Math.floor(ordinal / GROUP_SIZE)}`,
        groupSize: GROUP_SIZE,
        groupMember: ordinal % GROUP_SIZE,
        task: { level: ordinal },
      },
    });
    await appendEvents(store.log, end ? events : events.slice(0, -1));
    return events[0].episodeId;
  }

  beforeAll(async () => {
    store = await openStoreFixture();
    await appendEvents(store.log, [controlEvent({ logId: store.log.logId, runId }, 'RunStarted')]);
    for (let ordinal = 0; ordinal < 6; ordinal++) ids.push(await play(ordinal));
    await catchUp(store.log, store.client);
  });
  afterAll(async () => {
    await store.close();
  });

  async function* rowsOf(chosen: readonly string[]) {
    for (const id of chosen) yield Promise.resolve({ run_id: runId, episode_id: id });
  }

  const create = (chosen: readonly string[], more: Partial<TrainingRules> = {}) =>
    createTrainingSet({
      log: store.log,
      client: store.client,
      bringUpToDate: async () => {
        await catchUp(store.log, store.client);
      },
      sql: 'SELECT …',
      rows: rowsOf(chosen),
      rules: { ...rules, ...more },
      codeVersion: 'test',
    });

  it('lists the chosen episodes in the log, under a name that follows from them', async () => {
    const made = await create(ids);
    expect(made).toMatchObject({ numEpisodes: 6, numGroups: 3, skipped: [] });
    expect(made.dataset).toBe(`episodes-${made.contentHash.slice(0, 16)}`);
    const rows = await store.client.queryRows<{ id: string }>(
      `SELECT episode_id AS id FROM dataset_episodes WHERE dataset = '${made.dataset}' ORDER BY id`,
    );
    expect(rows.map(({ id }) => id)).toEqual([...ids].sort());
    // Any order of the same choice is the same data set, which is not written twice.
    const end = await store.log.endOffset('control', 0);
    expect(await create([...ids].reverse())).toEqual(made);
    expect(await store.log.endOffset('control', 0)).toBe(end);
    expect(await checkTrainingSet({ client: store.client, rules }, made.dataset)).toEqual(made);
  });

  it('gives the sampler whole groups with their members in order, families and priorities', async () => {
    const { dataset } = await create(ids);
    const facts = await new TrajectoryReader(store.client).readDatasetFacts(dataset, {
      prioritySql: 'num_steps * 10 + group_member',
      family: 'level',
    });
    expect(facts.episodeIds).toEqual(ids);
    expect(facts.groupIds).toEqual(['group-0', 'group-0', 'group-1', 'group-1', 'group-2', 'group-2']);
    expect([...facts.numSteps]).toEqual([2, 2, 2, 2, 2, 2]);
    expect([...(facts.priorities ?? [])]).toEqual([20, 21, 20, 21, 20, 21]);
    expect(new Set(facts.families).size).toBe(6);
  });

  it('refuses a priority that reads more than the columns of the episode', async () => {
    const read = (prioritySql: string) =>
      new TrajectoryReader(store.client).readDatasetFacts('none', { prioritySql, family: null });
    await expect(read("length(file('/etc/passwd'))")).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
    await expect(read('(SELECT count() FROM system.tables)')).rejects.toMatchObject({
      code: 'USER_SQL_NOT_ALLOWED',
    });
    await expect(read('1; SELECT 2')).rejects.toMatchObject({ code: 'USER_SQL_NOT_ALLOWED' });
  });

  it('refuses half a group where groups are compared, and takes it where they are not', async () => {
    await expect(create(ids.slice(0, 3))).rejects.toMatchObject({
      code: 'NOT_TRAINABLE',
      message: `Group group-1 of run ${runId}: 1 of its 2 episodes were chosen; must be all of them, since advantage.estimator grpo compares the episodes of a group`,
    });
    expect(await create(ids.slice(0, 3), { comparesGroups: null })).toMatchObject({ numGroups: 2 });
  });

  it('leaves out groups that never became whole, and counts them', async () => {
    const open = [await play(20), await play(21, { end: false })];
    await catchUp(store.log, store.client);
    expect((await create([...ids, ...open])).skipped).toEqual([
      { reason: 'episode has not ended', count: 1 },
      { reason: 'group is incomplete in the store', count: 1 },
    ]);
    await expect(create(open)).rejects.toMatchObject({ code: 'NO_ROWS' });
  });

  it.each([
    ['steps without logprobs', 30, { untrainable: 'no logprobs' }, 'a step is not trainable: no logprobs'],
    ['another tokenizer', 40, { tokenizerHash: 'bbbb' }, "tokenizer bbbb, must be the policy's, aaaa"],
    ['an unknown tokenizer', 50, { tokenizerHash: '' }, "tokenizer unknown, must be the policy's, aaaa"],
  ] as const)('refuses %s with count and first example', async (_title, ordinal, step, fault) => {
    const bad = [await play(ordinal, { step }), await play(ordinal + 1, { step })];
    await catchUp(store.log, store.client);
    const fails = expect(create([...ids, ...bad])).rejects;
    await fails.toMatchObject({
      code: 'NOT_TRAINABLE',
      message: expect.stringContaining(
        `2 × ${fault} (first: run ${runId}, episode ${[...bad].sort()[0]}, step 0)`,
      ) as string,
    });
  });

  it('advises only what would help', async () => {
    const adviceFor = async (ordinal: number, step: object) => {
      const group = [await play(ordinal, { step }), await play(ordinal + 1, { step })];
      await catchUp(store.log, store.client);
      const refused = (await create([...ids, ...group]).catch((error: unknown) => error)) as Error;
      return refused.message.replace(/^.*Leave them out of the query/, '');
    };
    const silent = { untrainable: 'no logprobs' };
    expect(await adviceFor(80, silent)).toBe(
      ', or imitate: `--algorithm filtered-imitation` reads no logprobs',
    );
    const naming =
      '. Who records must name the tokenizer: `tokenizerHash` of a step, `retrace proxy --tokenizer <model directory>`';
    expect(await adviceFor(82, { tokenizerHash: '' })).toBe(naming);
    expect(await adviceFor(84, { ...silent, tokenizerHash: '' })).toBe(naming);
  });

  it('takes steps without logprobs, at any temperature, where the update reads none', async () => {
    const silent = [70, 71].map((ordinal) => play(ordinal, { step: { untrainable: 'no logprobs' } }));
    const imitated = [...ids, ...(await Promise.all(silent))];
    await catchUp(store.log, store.client);
    const taken = await create(imitated, { readsLogprobs: false, temperature: 0.7 });
    expect(taken).toMatchObject({ numEpisodes: imitated.length, skipped: [] });
    const otherTokenizer = { readsLogprobs: false, tokenizerHash: 'bbbb' };
    await expect(create(imitated, otherTokenizer)).rejects.toMatchObject({ code: 'NOT_TRAINABLE' });
  });

  it('refuses another temperature, episodes for evaluation, and those that the store lacks', async () => {
    await expect(create(ids, { temperature: 0.7 })).rejects.toMatchObject({
      message: expect.stringContaining('sampled at temperature 1, must be 0.7') as string,
    });
    const tested = [await play(60, { split: 'test' }), await play(61, { split: 'test' })];
    await catchUp(store.log, store.client);
    await expect(create(tested)).rejects.toMatchObject({
      message: expect.stringContaining("choose those with split = 'train'") as string,
    });
    await expect(create(['01936d00-0000-7000-8000-00000000ffff'])).rejects.toMatchObject({
      message: expect.stringContaining('is not in the store') as string,
    });
  });
});
