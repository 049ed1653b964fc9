import { describe, expect, it } from 'vitest';
import type { EpisodeBranch, StepDetail } from '../api/schema';
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

describe('buildConversation', () => {
  it('puts tool calls below their turn, each with its answer, and an agent below the only call', () => {
    const tree = buildConversation('r1', ROOT, STEPS, [branch('call', {})]);
    expect(lines(tree)).toEqual([
      'Step 0: I ask.',
      '  ask: { "q": 1 }',
      '    Agent helper: return 0.5 · success · e-1',
      '    Answer: Three shops.',
      'Step 1',
      '  price: { "q": 1 }',
      '  price: { "q": 1 }',
      'Step 2: buy',
    ]);
    expect(hasBranches(tree)).toBe(true);
  });

  it('puts an agent at the turn before its start, below the turn where that made several calls, and before all turns', () => {
    const later = branch('call', {
      startedAt: '2026-11-29T12:00:04Z',
      return: null,
      success: null,
      sealed: false,
    });
    const early = branch('call', { startedAt: '2026-11-29T12:00:00Z', agent: 'early' });
    expect(lines(buildConversation('r1', ROOT, STEPS, [early, later]))).toEqual([
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
    const tree = buildConversation('r1', origin, STEPS.slice(2), forks);
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

  it('has nothing to add for turns without calls, forks or agents', () => {
    expect(hasBranches(buildConversation('r1', ROOT, STEPS.slice(2), []))).toBe(false);
  });
});
