import { writeJson } from '@retrace/rows';
import type { Json } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import type { SelectedEpisode } from '../selection/selected-episode.js';
import { SkipCounts } from '../skip-counts.js';
import { selected, storedEpisode } from '../stored-episode.fixture.js';
import type { StoredDetails, StoredEpisode, StoredStep } from '../stored-episode.js';
import type { DatasetFormat, DatasetRow } from './dataset-format.js';
import { atif } from './atif.js';
import { conversations } from './conversations.js';
import { dpo, rewardPairs } from './preference-pairs.js';
import { prompts } from './prompts.js';
import { sft } from './sft.js';

/** Plans and builds all rows of a format; a row that is skipped is its reason. */
function rowsOf(
  format: DatasetFormat,
  pairs: readonly (readonly [StoredEpisode, Partial<SelectedEpisode>?])[],
): (DatasetRow | string)[] {
  const byId = new Map(pairs.map(([episode]) => [episode.episodeId, episode]));
  const skipped = new SkipCounts();
  const plans = format.plan(
    pairs.map(([episode, fields]) => selected(episode, fields)),
    skipped,
  );
  const built = plans.map((plan) =>
    format.build(
      plan,
      plan.members.flatMap(({ episode }) => byId.get(episode.facts.episodeId) ?? []),
    ),
  );
  return [
    ...built.flatMap((row): readonly (DatasetRow | string)[] =>
      row.kind === 'rows' ? row.rows : [row.reason],
    ),
    ...skipped.list().map(({ reason }) => reason),
  ];
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

const DETAILS: StoredDetails = {
  parsedAction: null,
  actionValid: null,
  rewards: {},
  terminated: false,
  truncated: false,
  info: null,
  sampling: null,
  engine: '',
  tokenizerHash: '',
  logprobMode: 'raw',
};
const CALL = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
/** As chat templates read it. */
const READ_CALLING = {
  role: 'assistant',
  content: '',
  tool_calls: [{ ...CALL, function: { name: 'add', arguments: { a: 1 } } }],
};
const CALLING = { role: 'assistant', content: null, tool_calls: [CALL] };
const RESULT = { role: 'tool', tool_call_id: 'c1', content: '2' };
const TOOL_STEPS: Partial<StoredStep>[] = [
  {
    messages: { input: [{ role: 'system', content: 'be brief' }, user('1+1?')], output: CALLING },
    model: 'm',
    usage: { inputTokens: 9, cachedInputTokens: null, outputTokens: 4, costUsd: 0.5 },
  },
  { messages: { input: [RESULT], output: { ...assistant('2'), reasoning_content: 'easy' } }, reward: 1 },
];

describe('sft', () => {
  it('makes messages of observations and actions, in turn', () => {
    expect(rowsOf(sft, [[storedEpisode(1, [{}, {}])]])).toEqual([
      { messages: [user('see 0'), assistant('do 0'), user('see 1'), assistant('do 1')] },
    ]);
  });

  it('keeps recorded messages with their tool calls, and the tools of the metadata', () => {
    const tools = [{ type: 'function', function: { name: 'add' } }];
    const episode = storedEpisode(1, TOOL_STEPS, { metadata: JSON.stringify({ tools }) });
    expect(rowsOf(sft, [[episode]])).toEqual([
      {
        messages: [
          { role: 'system', content: 'be brief' },
          user('1+1?'),
          READ_CALLING,
          RESULT,
          { ...assistant('2'), reasoning_content: 'easy' },
        ],
        tools,
      },
    ]);
  });

  it('makes prompt and completion of a chosen step, and skips one that does not exist', () => {
    expect(rowsOf(sft, [[storedEpisode(1, [{}, {}]), { steps: [1, 5] }]])).toEqual([
      { prompt: [user('see 0'), assistant('do 0'), user('see 1')], completion: [assistant('do 1')] },
      'the episode has no such step',
    ]);
  });
});

const system = (content: string) => ({ role: 'system', content });

describe('a context that was rewritten', () => {
  // h1 and h2 of the fixture 07-import-rewritten-history, as an import stores them.
  const rerooted = storedEpisode(1, [
    { messages: { input: [system('Route.'), user('refund for order 7')], output: assistant('billing') } },
    {
      messages: {
        input: [system('You do billing.'), user('refund for order 7')],
        output: assistant('Refunded.'),
      },
      keptMessages: 0,
    },
  ]);
  const compacted = storedEpisode(2, [
    { messages: { input: [system('Be brief.'), user('q1')], output: assistant('a1') } },
    { messages: { input: [user('q2')], output: assistant('a2') } },
    // The agent keeps its system message and replaces the rest by a summary.
    {
      messages: { input: [user('Summary: q1 a1 q2 a2'), user('q3')], output: assistant('a3') },
      keptMessages: 1,
    },
    { messages: { input: [user('q4')], output: assistant('a4') } },
  ]);
  /** `context.window: observation`: no prompt keeps a token of the one before. */
  const windowed = storedEpisode(3, [
    { tokens: { ids: [1, 2, 9], mask: [0, 0, 1], logprobs: [0, 0, 0], keptPrefix: 0 } },
    { tokens: { ids: [3, 4, 9], mask: [0, 0, 1], logprobs: [0, 0, 0], keptPrefix: 0 } },
  ]);
  const summary = [system('Be brief.'), user('Summary: q1 a1 q2 a2'), user('q3'), assistant('a3')];

  it('gives a row of a step the prompt of its own call', () => {
    expect(rowsOf(sft, [[rerooted, { steps: [1] }]])).toEqual([
      {
        prompt: [system('You do billing.'), user('refund for order 7')],
        completion: [assistant('Refunded.')],
      },
    ]);
    expect(rowsOf(sft, [[compacted, { steps: [1, 2, 3] }]])).toEqual([
      {
        prompt: [system('Be brief.'), user('q1'), assistant('a1'), user('q2')],
        completion: [assistant('a2')],
      },
      { prompt: summary.slice(0, 3), completion: [assistant('a3')] },
      { prompt: [...summary, user('q4')], completion: [assistant('a4')] },
    ]);
    expect(rowsOf(sft, [[windowed, { steps: [1] }]])).toEqual([
      { prompt: [user('see 1')], completion: [assistant('do 1')] },
    ]);
    expect(rowsOf(prompts, [[compacted, { steps: [2] }]])).toMatchObject([{ prompt: summary.slice(0, 3) }]);
  });

  it('gives an episode a row for each conversation that its model had', () => {
    expect(rowsOf(sft, [[compacted]])).toEqual([
      { messages: [system('Be brief.'), user('q1'), assistant('a1'), user('q2'), assistant('a2')] },
      { messages: [...summary, user('q4'), assistant('a4')] },
    ]);
    expect(rowsOf(sft, [[windowed]])).toEqual([
      { messages: [user('see 0'), assistant('do 0')] },
      { messages: [user('see 1'), assistant('do 1')] },
    ]);
    const values = (row: DatasetRow | string) =>
      ((row as DatasetRow).conversations as { value: string }[]).map(({ value }) => value);
    expect(rowsOf(conversations, [[rerooted]]).map(values)).toEqual([
      ['Route.', 'refund for order 7', 'billing'],
      ['You do billing.', 'refund for order 7', 'Refunded.'],
    ]);
  });

  it('gives no preference pair, whose members go on from one prompt', () => {
    const other = storedEpisode(4, [rerooted.steps[0]], { return: 0 });
    const reason =
      'a member of the pair has no answer, or its context was rewritten: it is no one conversation';
    for (const format of [dpo, rewardPairs]) {
      expect(rowsOf(format, [[rerooted], [other]])).toEqual([reason]);
    }
  });

  it('begins another conversation where other tools were offered', () => {
    const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
    const episode = storedEpisode(5, [
      { toolDefinitions: [tool('a')] },
      {},
      // As the proxy stores a tool of Anthropic, and one that the provider runs itself.
      {
        toolDefinitions: [
          { name: 'b', input_schema: {} },
          { type: 'web_search', name: 'web' },
        ],
      },
      { toolDefinitions: [] },
    ]);
    const rows = rowsOf(sft, [[episode]]) as DatasetRow[];
    expect(rows.map(({ tools, messages }) => [tools, (messages as unknown[]).length])).toEqual([
      [[tool('a')], 4],
      [[tool('b')], 6],
      [undefined, 8],
    ]);
    expect(rowsOf(sft, [[episode, { steps: [1] }]])).toMatchObject([{ tools: [tool('a')] }]);
  });

  it('keeps the turns that a full context left where it dropped the oldest', () => {
    const tokens = (keptPrefix: number, numPrompt: number) => {
      const mask = [...Array.from({ length: numPrompt }, () => 0), 1];
      return { ids: mask, mask, logprobs: mask, keptPrefix };
    };
    const episode = storedEpisode(6, [
      { tokens: tokens(0, 4) },
      { tokens: tokens(5, 4) },
      { tokens: tokens(0, 9), numHiddenTurns: 1 },
      { tokens: tokens(10, 4) },
    ]);
    expect(rowsOf(sft, [[episode, { steps: [2, 3] }]])).toEqual([
      { prompt: [user('see 1'), assistant('do 1'), user('see 2')], completion: [assistant('do 2')] },
      {
        prompt: ['1', '2'].flatMap((k) => [user(`see ${k}`), assistant(`do ${k}`)]).concat(user('see 3')),
        completion: [assistant('do 3')],
      },
    ]);
  });

  const UNKNOWN =
    'a prompt was written again with a part of an earlier answer, and its messages are not stored';

  it('gives no row where a prompt has a part of an earlier answer, whose text is not stored', () => {
    const episode = storedEpisode(7, [
      { tokens: { ids: [1, 2, 8, 9], mask: [0, 0, 1, 1], logprobs: [0, 0, 0, 0], keptPrefix: 0 } },
      // The thought 8 is cut from the history: the new prompt is 1 2 9 3.
      { tokens: { ids: [9, 3, 7], mask: [0, 0, 1], logprobs: [0, 0, 0], keptPrefix: 2 } },
    ]);
    expect(rowsOf(sft, [[episode, { steps: [0, 1] }]])).toEqual([
      { prompt: [user('see 0')], completion: [assistant('do 0')] },
      UNKNOWN,
    ]);
    const cut = storedEpisode(8, [
      { tokens: { ids: [1, 2, 8, 9], mask: [0, 0, 1, 1], logprobs: [0, 0, 0, 0], keptPrefix: 0 } },
      { tokens: { ids: [6, 3, 7], mask: [0, 0, 1], logprobs: [0, 0, 0], keptPrefix: 3 } },
    ]);
    expect(rowsOf(sft, [[cut, { steps: [0, 1] }]])).toMatchObject([
      { completion: [assistant('do 0')] },
      UNKNOWN,
    ]);
  });

  it('goes on from an earlier answer where its tokens end there', () => {
    const tokens = (keptPrefix: number) => ({ ids: [1, 2], mask: [0, 1], logprobs: [0, 0], keptPrefix });
    const episode = storedEpisode(9, [{ tokens: tokens(0) }, { tokens: tokens(2) }, { tokens: tokens(2) }]);
    expect(rowsOf(sft, [[episode, { steps: [2] }]])).toEqual([
      { prompt: [user('see 0'), assistant('do 0'), user('see 2')], completion: [assistant('do 2')] },
    ]);
  });
});

describe('a call without an answer', () => {
  it('is no message of a later prompt, and no row', () => {
    const failed = { messages: { input: [user('q1')], output: null } };
    const retried = { messages: { input: [user('again')], output: assistant('a') } };
    const episode = storedEpisode(1, [failed, retried]);
    expect(rowsOf(sft, [[episode, { steps: [0, 1] }]])).toEqual([
      'the step has no answer',
      { prompt: [user('q1'), user('again')], completion: [assistant('a')] },
    ]);
    expect(rowsOf(sft, [[storedEpisode(2, [failed])]])).toEqual(['the episode has no answer']);
    // A recorder of a whole rollout puts its texts into the last of the steps.
    expect(rowsOf(sft, [[storedEpisode(3, [{ observation: '', action: '' }, retried])]])).toEqual([
      { messages: [user('again'), assistant('a')] },
    ]);
  });
});

describe('tool calls', () => {
  it('have the numbers and the order of the text that the model wrote', () => {
    const given = '{"id": 12345678901234567890, "10": 3.0, "2": 1e-07}';
    const call = { ...CALLING, tool_calls: [{ ...CALL, function: { name: 'add', arguments: given } }] };
    const episode = storedEpisode(1, [{ messages: { input: [user('go')], output: call } }]);
    for (const [format, field] of [
      [sft, '"arguments":'],
      [atif, '"arguments":'],
    ] as const) {
      const [row] = rowsOf(format, [[episode]]);
      expect(writeJson(row)).toContain(`${field}{"id":12345678901234567890,"10":3.0,"2":1e-07}`);
    }
  });
});

describe('preference pairs', () => {
  const same = { observation: 'start' };
  const better = storedEpisode(1, [{ ...same, action: 'left' }], { return: 1 });
  const middle = storedEpisode(2, [{ ...same, action: 'wait' }], { return: 0.5 });
  const worse = storedEpisode(3, [{ ...same, action: 'right' }], { return: 0 });

  it('pair the best member of a group with the worst', () => {
    expect(rowsOf(dpo, [[middle], [worse], [better]])).toEqual([
      {
        prompt: [user('start')],
        chosen: [assistant('left')],
        rejected: [assistant('right')],
        score_chosen: 1,
        score_rejected: 0,
      },
    ]);
  });

  it('hold whole conversations and their margin for a reward model', () => {
    expect(rowsOf(rewardPairs, [[middle], [better]])).toEqual([
      {
        chosen: [user('start'), assistant('left')],
        rejected: [user('start'), assistant('wait')],
        margin: 0.5,
        score_chosen: 1,
        score_rejected: 0.5,
      },
    ]);
  });

  it('are not made of equal scores, of missing scores, or of a single member', () => {
    const twin = storedEpisode(4, [same], { return: 1 });
    expect(rowsOf(dpo, [[better], [twin]])).toEqual(['all members of the group have the same score']);
    expect(rowsOf(dpo, [[better], [worse, { score: null }]])).toEqual([
      'fewer than two members of the group have a score',
    ]);
    expect(rowsOf(dpo, [[better]])).toEqual(['the group has a single chosen member']);
  });

  it('are not made of members whose first prompts differ', () => {
    const other = storedEpisode(5, [{ observation: 'elsewhere' }], { return: -1 });
    expect(rowsOf(dpo, [[better], [other]])).toEqual([
      'the members of the pair have different first prompts',
    ]);
  });

  it('compare the forks of a step with each other, not with the rest of their group', () => {
    const forkedFrom = { episodeId: better.episodeId, step: 1 };
    const rows = rowsOf(dpo, [[better], [worse, { forkedFrom }], [middle, { forkedFrom }]]);
    expect(rows).toMatchObject([
      { chosen: [assistant('wait')], rejected: [assistant('right')] },
      'the group has a single chosen member',
    ]);
  });
});

describe('prompts', () => {
  it('hold what the agent saw before the step, in the fields of verl', () => {
    const episode = storedEpisode(1, [{}, {}]);
    expect(rowsOf(prompts, [[episode, { steps: [1], split: 'test' }]])).toEqual([
      {
        data_source: 'grid',
        prompt: [user('see 0'), assistant('do 0'), user('see 1')],
        ability: 'grid',
        reward_model: { style: 'rule', ground_truth: '{"level":1}' },
        extra_info: {
          split: 'test',
          index: `${episode.episodeId}/1`,
          run_id: episode.runId,
          episode_id: episode.episodeId,
          step: '1',
        },
      },
    ]);
  });
});

describe('prompts without a task', () => {
  it.each(['null', '{}', '""'])('have no reward model, where the task is %s', (task) => {
    const [row] = rowsOf(prompts, [[storedEpisode(1, [{}], { task })]]);
    expect(row).not.toHaveProperty('reward_model');
    expect(row).toMatchObject({ prompt: [user('see 0')] });
  });
});

describe('conversations', () => {
  it('have the reward and the info of each step at the turn after it, and an id that AgentGym can read', () => {
    const details = (info: Json) => ({ ...DETAILS, info });
    const episode = storedEpisode(1, [
      { reward: 0.25, details: details({ moved: true }) },
      { reward: 1, details: details(null) },
    ]);
    expect(rowsOf(conversations, [[episode]])).toMatchObject([
      {
        item_id: 'grid_7',
        conversations: [
          { from: 'human', value: 'see 0', loss: null },
          { from: 'gpt', value: 'do 0', loss: true },
          { from: 'human', value: 'see 1', loss: null, reward: 0.25, info: { moved: true } },
          { from: 'gpt', value: 'do 1', loss: true, reward: 1 },
        ],
        info: { success: true, end_reason: 'terminated' },
      },
    ]);
    const idOf = (facts: Partial<StoredEpisode>) =>
      (rowsOf(conversations, [[storedEpisode(1, [{}], facts)]])[0] as DatasetRow).item_id;
    expect(idOf({ task: '{"itemId":"babyai_12"}' })).toBe('babyai_12');
    expect(idOf({ environment: 'sqlgym', task: '{"index":3}' })).toBe('sqlgym_3');
    expect(idOf({ environmentSeed: null })).toBe(episode.episodeId);
  });

  it('count a loss where the agent wrote, and end with the last observation', () => {
    const episode = storedEpisode(1, [{}], { finalObservation: 'the end' });
    expect(rowsOf(conversations, [[episode]])).toMatchObject([
      {
        conversations: [
          { from: 'human', value: 'see 0', loss: null },
          { from: 'gpt', value: 'do 0', loss: true },
          { from: 'human', value: 'the end', loss: null },
        ],
        reward: 1,
        info: { environment: 'grid', success: true },
      },
    ]);
  });
});

describe('atif', () => {
  it('gives tool results to the step that called, with metrics and reasoning', () => {
    const [row] = rowsOf(atif, [[storedEpisode(1, TOOL_STEPS)]]) as [DatasetRow];
    expect(row).toMatchObject({ schema_version: 'ATIF-v1.8', agent: { name: 'policy', model_name: 'm' } });
    expect(row.final_metrics).toEqual({
      total_prompt_tokens: 9,
      total_completion_tokens: 4,
      total_cost_usd: 0.5,
      total_steps: 4,
    });
    expect(row.steps).toMatchObject([
      { step_id: 1, source: 'system', message: 'be brief' },
      { step_id: 2, source: 'user', message: '1+1?' },
      {
        step_id: 3,
        source: 'agent',
        message: '',
        tool_calls: [{ tool_call_id: 'c1', function_name: 'add', arguments: { a: 1 } }],
        observation: { results: [{ source_call_id: 'c1', content: '2' }] },
        metrics: { prompt_tokens: 9, completion_tokens: 4, cost_usd: 0.5 },
      },
      { step_id: 4, source: 'agent', message: '2', reasoning_content: 'easy' },
    ]);
  });

  it('rebuilds the prompt of each step from the tokens that the steps appended', () => {
    const episode = storedEpisode(1, [
      { tokens: { ids: [1, 2, 3], mask: [0, 0, 1], logprobs: [0, 0, -0.5], keptPrefix: 0 } },
      // Keeps [1, 2] of [1, 2, 3]: its prompt is [1, 2, 4].
      { tokens: { ids: [4, 5], mask: [0, 1], logprobs: [0, null], keptPrefix: 2 } },
    ]);
    const [row] = rowsOf(atif, [[episode]]) as [DatasetRow];
    const steps = row.steps as { source: string; metrics: Record<string, unknown> }[];
    expect(steps.filter(({ source }) => source === 'agent').map(({ metrics }) => metrics)).toEqual([
      {
        prompt_tokens: 2,
        completion_tokens: 1,
        prompt_token_ids: [1, 2],
        completion_token_ids: [3],
        logprobs: [-0.5],
      },
      { prompt_tokens: 3, completion_tokens: 1, prompt_token_ids: [1, 2, 4], completion_token_ids: [5] },
    ]);
  });

  it('of many turns are written so that an import reads them, with the same tokens', () => {
    // 500 turns of 240 tokens, as in the fixture 20-long-atif: 107 MB with whole prompts.
    const ids = Array.from({ length: 240 }, (_, i) => i);
    const mask = ids.map((i) => Number(i >= 200));
    const logprobs = mask.map((sampled) => (sampled === 1 ? -0.5 : 0));
    const turns = Array.from({ length: 500 }, (_, k) => ({
      tokens: { ids, mask, logprobs, keptPrefix: k * 240 },
    }));
    const [row] = rowsOf(atif, [[storedEpisode(1, turns)]]) as [DatasetRow];
    expect(writeJson(row).length).toBeLessThan(2 * 1024 * 1024);
    const agents = (row.steps as { source: string; metrics: object; extra: object }[]).filter(
      ({ source }) => source === 'agent',
    );
    expect(agents[499]).toMatchObject({
      metrics: { prompt_tokens: 499 * 240 + 200, completion_token_ids: ids.slice(200) },
      extra: { retrace: { prompt: { ids: ids.slice(0, 200), keptPrefix: 499 * 240 } } },
    });
    expect(agents[499].metrics).not.toHaveProperty('prompt_token_ids');
  });

  it('carries what the format has no field for: how it ended, rewards, sampling, the mark of a rewritten context', () => {
    const sampling = { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 8 };
    const details = { ...DETAILS, sampling, rewards: { format: 0.5 }, tokenizerHash: 'abc' };
    const tokens = { ids: [1, 2], mask: [0, 1], logprobs: [0, -1], keptPrefix: 0 };
    const episode = storedEpisode(
      1,
      [
        { tokens, details, reward: 1 },
        { tokens, details },
      ],
      {
        endReason: 'truncated',
        endDetail: 'a limit',
      },
    );
    const [row] = rowsOf(atif, [[episode]]) as [DatasetRow];
    expect(row.extra).toMatchObject({
      retrace: { success: true, endReason: 'truncated', endDetail: 'a limit', environmentSeed: 7, score: 1 },
    });
    const retrace = (row.steps as { source: string; extra?: { retrace: object } }[]).flatMap(
      ({ extra }) => extra?.retrace ?? [],
    );
    expect(retrace).toEqual([
      { step: 0, reward: 1, rewards: { format: 0.5 }, sampling, tokenizerHash: 'abc', logprobMode: 'raw' },
      {
        ...{ step: 1, reward: null, rewards: { format: 0.5 }, sampling, tokenizerHash: 'abc' },
        ...{ logprobMode: 'raw', info: { keptMessages: 0 } },
      },
    ]);
  });

  it('keeps arguments that are no JSON object as text', () => {
    const broken = { ...CALLING, tool_calls: [{ ...CALL, function: { name: 'add', arguments: '{"a":' } }] };
    const episode = storedEpisode(1, [{ messages: { input: [user('go')], output: broken } }]);
    expect(rowsOf(atif, [[episode]])).toMatchObject([
      { steps: [{}, { tool_calls: [{ arguments: {}, extra: { arguments_text: '{"a":' } }] }] },
    ]);
  });
});
