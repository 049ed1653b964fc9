import { describe, expect, it } from 'vitest';
import type { EpisodeBranch, StepDetail } from '../api-types/schema';
import { buildConversation, type ConversationNode, hasBranches } from './conversation-tree';

const ROOT = { parentEpisodeId: null, forkedFrom: null };

const step = (number: number, second: number, messages: unknown, action = ''): StepDetail =>
  ({ step: number, occurredAt: `2026-11-29T12:00:0${second}Z`, messages, action }) as StepDetail;

const toolCall = (id: string, name: string) => ({ id, function: { name, arguments: '{"q": 1}' } });

const branch = (kind: 'call' | 'fork', more: Partial<EpisodeBranch>): EpisodeBranch => ({
  ...{ kind, step: null, runId: 'r1', episodeId: 'e-1', agent: 'helper', sealed: true, success: true },
  ...{ startedAt: '2026-11-29T12:00:02Z', return: 0.5, numSteps: 1 },
  ...more,
});

/** Each node as one line, indented by its depth. */
const lines = (nodes: readonly ConversationNode[], indent = ''): string[] =>
  nodes.flatMap(({ label, detail, children }) => [
    `${indent}${label}${detail === '' ? '' : `: ${detail}`}`,
    ...lines(children, `${indent}  `),
  ]);

const STEPS = [
  step(0, 1, { input: [], output: { content: 'I ask.', tool_calls: [toolCall('c1', 'ask')] } }),
  step(1, 3, {
    input: [{ role: 'tool', tool_call_id: 'c1', content: 'Three\nshops.' }],
    output: { content: '', tool_calls: [toolCall('c2', 'price'), toolCall('c3', 'price')] },
  }),
  step(2, 5, null, 'buy'),
];

const whole = (steps: readonly StepDetail[]) => ({ steps, hasMore: false });

describe('buildConversation', () => {
  it('puts tool calls below their turn, each with its answer, and agents below the turn', () => {
    const tree = buildConversation('r1', ROOT, whole(STEPS), [branch('call', {})]);
    expect(lines(tree)).toEqual([
      'Step 0: I ask.',
      '  ask: { "q": 1 }',
      '    Answer: Three shops.',
      '  Agent helper: return 0.5 · success · e-1',
      'Step 1',
      '  price: { "q": 1 }',
      '  price: { "q": 1 }',
      'Step 2: buy',
    ]);
    expect(hasBranches(tree)).toBe(true);
  });

  it('puts an agent at the turn before its start, and before all turns', () => {
    const later = branch('call', {
      startedAt: '2026-11-29T12:00:04Z',
      return: null,
      success: null,
      sealed: false,
    });
    const early = branch('call', { startedAt: '2026-11-29T12:00:00Z', agent: 'early' });
    expect(lines(buildConversation('r1', ROOT, whole(STEPS), [early, later]))).toEqual([
      'Agent early: return 0.5 · success · e-1',
      'Step 0: I ask.',
      '  ask: { "q": 1 }',
      '    Answer: Three shops.',
      'Step 1',
      '  price: { "q": 1 }',
      '  price: { "q": 1 }',
      '  Agent helper: in progress · e-1',
      'Step 2: buy',
    ]);
  });

  it('puts forks below the step that they begin at, and says where the episode itself came from', () => {
    const forks = [branch('fork', { step: 2, return: 0, success: false }), branch('fork', { step: 2 })];
    const origin = { parentEpisodeId: 'p-1', forkedFrom: { runId: 'r0', episodeId: 'p-2', step: 4 } };
    const tree = buildConversation('r1', origin, whole(STEPS.slice(2)), forks);
    expect(lines(tree)).toEqual([
      'Called by p-1',
      'Forked from step 4 of p-2',
      'Step 2: buy',
      '  2 forks',
      '    Fork by helper: return 0 · failure · e-1',
      '    Fork by helper: return 0.5 · success · e-1',
    ]);
    expect(tree.map(({ target }) => target)).toEqual([
      { kind: 'page', address: '/runs/r1/episodes/p-1' },
      { kind: 'page', address: '/runs/r0/episodes/p-2' },
      { kind: 'step', step: 2 },
    ]);
  });

  it('leaves out agents that may have started at a later turn than the loaded ones', () => {
    const agents = [
      branch('call', { agent: 'known' }),
      branch('call', { startedAt: '2026-11-29T12:00:09Z' }),
    ];
    const linesOf = (hasMore: boolean) =>
      lines(buildConversation('r1', ROOT, { steps: STEPS.slice(0, 2), hasMore }, agents)).filter((line) =>
        line.includes('Agent'),
      );
    expect(linesOf(true)).toEqual(['  Agent known: return 0.5 · success · e-1']);
    expect(linesOf(false)).toHaveLength(2);
  });

  it('gives each call its own answer where ids are used again, within a turn and by a later one', () => {
    const answers = (...texts: string[]) =>
      texts.map((content) => ({ role: 'tool', tool_call_id: 'c', content }));
    const calls = (...names: string[]) => ({ tool_calls: names.map((name) => toolCall('c', name)) });
    const steps = [
      step(0, 1, { input: [], output: calls('a') }),
      step(1, 2, { input: answers('A'), output: calls('b', 'c') }),
      // A recorder that repeats the whole conversation.
      step(2, 3, { input: answers('A', 'B', 'C'), output: calls('d') }),
      step(3, 4, { input: [], output: calls('e') }),
      step(4, 5, { input: answers('E'), output: {} }),
    ];
    const named = buildConversation('r1', ROOT, whole(steps), []).flatMap(({ children }) =>
      children.map(({ label, children: [answer] }) => `${label}: ${answer?.detail ?? 'none'}`),
    );
    expect(named).toEqual(['a: A', 'b: B', 'c: C', 'd: none', 'e: E']);
  });

  it('has an id for each node, also of an episode that was called and forked', () => {
    const both = [branch('call', {}), branch('fork', { step: 0 })];
    const nodes = buildConversation('r1', ROOT, whole(STEPS), both)[0].children;
    const [agent, forks] = nodes.slice(1);
    expect(agent.id).not.toBe(forks.children[0].id);
  });

  it('has nothing to add for turns without calls, forks or agents', () => {
    expect(hasBranches(buildConversation('r1', ROOT, whole(STEPS.slice(2)), []))).toBe(false);
  });
});
