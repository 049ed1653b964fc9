import { describe, expect, it } from 'vitest';
import type { SelectedEpisode } from '../selection/selected-episode.js';
import { SkipCounts } from '../skip-counts.js';
import { selected, storedEpisode } from '../stored-episode.fixture.js';
import type { StoredEpisode, StoredStep } from '../stored-episode.js';
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
    ...built.map((row) => (row.kind === 'row' ? row.row : row.reason)),
    ...skipped.list().map(({ reason }) => reason),
  ];
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

const CALL = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
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
          CALLING,
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

describe('conversations', () => {
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

  it('keeps arguments that are no JSON object as text', () => {
    const broken = { ...CALLING, tool_calls: [{ ...CALL, function: { name: 'add', arguments: '{"a":' } }] };
    const episode = storedEpisode(1, [{ messages: { input: [user('go')], output: broken } }]);
    expect(rowsOf(atif, [[episode]])).toMatchObject([
      { steps: [{}, { tool_calls: [{ arguments: {}, extra: { arguments_text: '{"a":' } }] }] },
    ]);
  });
});
