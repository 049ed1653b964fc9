import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '../format.js';
import { RowFault } from '../skip.js';
import { endOf, mapAll, rewards, startOf, steps } from '../testing/map-all.js';
import { SAMPLE_ROWS } from '../testing/sample-rows.js';
import { detectFormat } from './formats.js';

/** More than any sample has. */
const NUM_PLACES = 1_000;

describe('each format', () => {
  it('is detected by its rows', () => {
    for (const [name, rows] of Object.entries(SAMPLE_ROWS)) expect(detectFormat(rows)?.name).toBe(name);
    expect(detectFormat([{ anything: 1 }, 5, null, []])).toBeNull();
  });

  it('gives a start, steps numbered from 0 and an end with their number, in this order', () => {
    for (const [name, rows] of Object.entries(SAMPLE_ROWS)) {
      for (const records of mapAll(name as FormatName, rows).episodes) {
        const own = steps(records);
        expect(records[0].type).toBe('episode');
        expect(own.map(({ step }) => step)).toEqual(own.map((_, index) => index));
        expect(records[own.length + 1]).toMatchObject({ type: 'end', numSteps: own.length });
        expect(new Set(records.map(({ episode }) => episode)).size).toBe(1);
      }
    }
  });

  it('takes damaged rows or says why not, and throws nothing else', () => {
    for (const [name, rows] of Object.entries(SAMPLE_ROWS)) {
      fc.assert(
        fc.property(fc.nat(), fc.option(fc.jsonValue(), { nil: undefined }), (place, value) => {
          const damaged = replaceAt(rows, place, value) as unknown[];
          try {
            mapAll(name as FormatName, damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(RowFault);
          }
        }),
        { numRuns: 400 },
      );
    }
  });

  it('takes rows, or says why not, where any value is an object that no text can be made of', () => {
    for (const [name, rows] of Object.entries(SAMPLE_ROWS)) {
      for (let place = 0; place < NUM_PLACES; place++) {
        try {
          mapAll(name as FormatName, replaceAt(rows, place, { toString: null }) as unknown[]);
        } catch (error) {
          expect(error, `${name} at ${place} ${(error as Error).stack}`).toBeInstanceOf(RowFault);
        }
      }
    }
  });
});

describe('AgentGym conversations', () => {
  it('have a step for each answer, the fixed "OK" is none, and the outcome is unknown', () => {
    const [records] = mapAll('agentgym', SAMPLE_ROWS.agentgym).episodes;
    expect(startOf(records)).toMatchObject({ environment: 'babyai', task: { itemId: 'babyai_7' } });
    expect(steps(records).map(({ observation }) => observation)).toEqual([
      'Your goal: go to the red ball',
      'You are at it.',
    ]);
    expect(steps(records)[0].messages?.input.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(steps(records).every(({ reward }) => reward === undefined)).toBe(true);
    expect(endOf(records)).toMatchObject({ endReason: 'truncated', numSteps: 2 });
    expect(endOf(records)).not.toHaveProperty('finalObservation');
    expect(endOf(records)).not.toHaveProperty('success');
  });

  it('of AgentGym-RL have their reward at the last step', () => {
    const [, records] = mapAll('agentgym', SAMPLE_ROWS.agentgym).episodes;
    expect(steps(records).map(({ reward }) => reward)).toEqual([undefined, 1]);
  });
});

describe('ShareGPT conversations', () => {
  it('have tool calls and their results as messages', () => {
    const [records] = mapAll('sharegpt', SAMPLE_ROWS.sharegpt).episodes;
    const [call, answer] = steps(records);
    expect(call.messages?.output?.tool_calls?.[0].function).toEqual({
      name: 'weather',
      arguments: '{"city":"Bern"}',
    });
    expect(answer).toMatchObject({ observation: '{"sky": "clear"}', action: 'Clear.' });
    expect(answer.messages?.input).toEqual([{ role: 'tool', content: '{"sky": "clear"}' }]);
  });
});

describe('OpenAI chats', () => {
  it('keep messages as they are, and what is beside them as metadata', () => {
    const [records] = mapAll('openai-chat', SAMPLE_ROWS['openai-chat']).episodes;
    const [call, answer] = steps(records);
    expect(call.messages?.input).toHaveLength(2);
    expect(call.info).toEqual({ weight: 0 });
    expect(answer.messages).toEqual({
      input: [{ role: 'tool', tool_call_id: 'c1', content: '{"sky":"clear"}' }],
      output: { role: 'assistant', content: 'Clear.' },
    });
    expect(startOf(records).metadata).toMatchObject({ parallel_tool_calls: false });
  });
});

describe('verl dumps', () => {
  it('are one step with the score as reward and numeric extras as named rewards', () => {
    const [records] = mapAll('verl', SAMPLE_ROWS.verl).episodes;
    expect(steps(records)).toEqual([
      {
        type: 'step',
        episode: '0123456789ab/1',
        step: 0,
        observation: 'user\nWhat is 1 + 2?\nassistant\n',
        action: 'The answer is #### 3',
        reward: 1,
        rewards: { acc: 1, format_score: 0.5 },
        info: { groundTruth: '3', pred: '3' },
      },
    ]);
    expect(startOf(records).metadata).toMatchObject({ globalStep: 17 });
  });

  it('of agent loops are a step for each turn, with the tokens that it appended', () => {
    const [, records] = mapAll('verl', SAMPLE_ROWS.verl).episodes;
    expect(steps(records).map(({ tokens, reward }) => ({ ...tokens, reward }))).toEqual([
      { ids: [1, 2, 3, 4, 5], mask: [0, 0, 0, 1, 1], logprobs: [0, 0, 0, -0.5, -0.25], reward: undefined },
      { ids: [6, 7, 8], mask: [0, 0, 1], logprobs: [0, 0, -0.125], reward: 0.75 },
    ]);
  });
});

describe('ATIF trajectories', () => {
  it('have exact tokens, usage, rewards of extra.retrace, and copied steps as input only', () => {
    const { episodes, skipped } = mapAll('atif', SAMPLE_ROWS.atif);
    const [first, second] = steps(episodes[0]);
    expect(startOf(episodes[0])).toMatchObject({ episode: 'trajectory-1', agent: 'terminus-2' });
    expect(first.messages?.input.map(({ role }) => role)).toEqual(['system', 'assistant', 'user']);
    expect(first.tokens).toEqual({
      ids: [1, 2, 3, 4, 5, 6],
      mask: [0, 0, 0, 0, 1, 1],
      logprobs: [0, 0, 0, 0, -0.1, -0.2],
      versions: [3, 3, 3, 3, 3, 3],
    });
    expect(first).toMatchObject({
      reward: 0.5,
      model: 'qwen3',
      usage: { inputTokens: 4, cachedInputTokens: 1, outputTokens: 2, reasoningTokens: null, costUsd: 0.001 },
      occurredAt: 1767323046500000,
    });
    // The second prompt begins with all six tokens of the context, so only 7 and 8 are new.
    expect(second.tokens).toEqual({ ids: [7, 8, 9], mask: [0, 0, 1], logprobs: [0, 0, -0.3] });
    expect(second.messages?.input).toEqual([{ role: 'tool', content: 'a.txt', tool_call_id: 't1' }]);
    expect(skipped.map(({ code }) => code)).toEqual(['COPIED_CONTEXT']);
  });

  it('in trajectories are episodes whose parent is the caller', () => {
    const [, child] = mapAll('atif', SAMPLE_ROWS.atif).episodes;
    expect(startOf(child)).toMatchObject({
      episode: 'searcher-1',
      parentEpisode: 'trajectory-1',
      agent: 'searcher',
    });
  });

  it('of another major version are refused', () => {
    const [row] = SAMPLE_ROWS.atif as { schema_version: string }[];
    expect(() => mapAll('atif', [{ ...row, schema_version: 'ATIF-v2.0' }])).toThrow(
      /ATIF-v1\.0 to ATIF-v1\.8/,
    );
  });
});

describe('traces', () => {
  it('of agent-lightning 0.3 follow its sequence ids; two spans of a response are one step, with the first reward', () => {
    const [records] = mapAll('agent-lightning', SAMPLE_ROWS['agent-lightning']).episodes;
    expect(startOf(records).episode).toBe('ro-1/at-1');
    expect(steps(records)).toHaveLength(1);
    expect(steps(records)[0]).toMatchObject({
      reward: 0.75,
      model: 'qwen',
      sampling: { temperature: 1 },
      generationMs: 750,
      tokens: { ids: [1, 2, 3, 4, 5, 6], logprobs: [0, 0, 0, 0, -0.5, -0.25] },
      messages: { output: { role: 'assistant', content: 'Fine.' } },
    });
    expect(rewards(records)).toMatchObject([{ name: 'style', value: 0.25, step: null }]);
  });

  it('of agent-lightning 1.0 have versions and rewards; a failed request is skipped', () => {
    const { episodes, skipped } = mapAll('agent-lightning-events', SAMPLE_ROWS['agent-lightning-events']);
    expect(steps(episodes[0])).toMatchObject([
      {
        reward: 1,
        tokens: { ids: [1, 2, 3], versions: [4, 4, 4], logprobs: [0, 0, -0.5] },
        generationMs: 20,
      },
    ]);
    expect(skipped).toMatchObject([{ code: 'CALL_FAILED' }]);
  });

  it('of Langfuse have usage, cost, scores as rewards, and the trace’s own fields as metadata', () => {
    const [records] = mapAll('langfuse', SAMPLE_ROWS.langfuse).episodes;
    expect(startOf(records)).toMatchObject({
      episode: 'trace-1',
      agent: 'agent',
      tags: ['beta'],
      metadata: { sessionId: 's1', userId: 'u1', metadata: { version: 2 } },
    });
    expect(steps(records)).toMatchObject([
      {
        messages: { input: [{ role: 'user', content: 'Weather?' }], output: { content: 'Clear.' } },
        usage: { inputTokens: 5, outputTokens: 2, costUsd: 0.0025 },
        sampling: { temperature: 0.5, maxNewTokens: 100 },
        generationMs: 2250,
      },
    ]);
    expect(rewards(records)).toMatchObject([
      { id: 's1', name: 'helpful', value: 1, step: null, source: 'langfuse/annotation', rationale: 'good' },
    ]);
    expect(endOf(records)).toMatchObject({ endReason: 'terminated' });
  });

  it('downloaded from Langfuse in camelCase are the same episodes', () => {
    const camel = (row: object) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
          value as unknown,
        ]),
      );
    const [trace, first, second, score] = SAMPLE_ROWS.langfuse.map((row) => camel(row as object));
    const download = { ...trace, observations: [first, second], scores: [score] };
    expect(mapAll('langfuse', [download])).toEqual(mapAll('langfuse', SAMPLE_ROWS.langfuse));
  });

  it('of OpenTelemetry have parts as messages, and a result that no model read as last observation', () => {
    const [records] = mapAll('otlp', SAMPLE_ROWS.otlp).episodes;
    expect(startOf(records)).toMatchObject({
      episode: '0000000000000000000000000000000b',
      agent: 'weather',
      metadata: { conversationId: 'conversation-1', service: 'agent' },
    });
    expect(steps(records)[0].messages).toEqual({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
      ],
      output: {
        role: 'assistant',
        content: null,
        reasoning_content: 'call it',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
        ],
      },
    });
    expect(endOf(records)).toMatchObject({ endReason: 'terminated', finalObservation: 'clear' });
  });
});

/** Replaces the `place`-th value in a tree, counted in depth-first order and again from the start; undefined removes it. */
function replaceAt(tree: unknown, place: number, value: unknown): unknown {
  const copy = structuredClone(tree);
  const holders: [Record<string, unknown>, string][] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      holders.push([node as Record<string, unknown>, key]);
      visit((node as Record<string, unknown>)[key]);
    }
  };
  visit(copy);
  const [holder, key] = holders[place % holders.length];
  if (value === undefined && !Array.isArray(holder)) Reflect.deleteProperty(holder, key);
  else holder[key] = value;
  return copy;
}
