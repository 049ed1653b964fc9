import { describe, expect, it } from 'vitest';
import { mapAll, steps } from '../testing/map-all.js';

describe('names of speakers', () => {
  const call = '{"name": "aqi", "arguments": {"city": "Oslo"}}';
  const called = [{ type: 'function', function: { name: 'aqi', arguments: '{"city":"Oslo"}' } }];

  it.each([
    ['tool_call', 'tool_response', 'assistant'],
    ['function-call', 'function-response', 'Assistant'],
    ['function_call', 'observation', 'bot'],
  ])('%s is a step with a tool call, %s a tool, %s the agent', (caller, tool, agent) => {
    const turns = [
      ['Human', 'air?'],
      [caller, call],
      [tool, '10'],
      [agent, 'good'],
    ];
    const conversations = turns.map(([from, value]) => ({ from, value }));
    const messages = turns.map(([role, content]) => ({ role, content }));
    for (const [name, row] of [
      ['sharegpt', { conversations }],
      ['agentgym', { item_id: 'babyai_1', conversations }],
      ['openai-chat', { messages }],
    ] as const) {
      const [records] = mapAll(name, [row]).episodes;
      expect(steps(records).map((step) => step.messages)).toMatchObject([
        {
          input: [{ role: 'user', content: 'air?' }],
          output: { role: 'assistant', content: null, tool_calls: called },
        },
        { input: [{ role: 'tool', content: '10' }], output: { role: 'assistant', content: 'good' } },
      ]);
    }
  });

  it('that are unknown stay as they are', () => {
    const messages = [
      { role: 'Judge-1', content: 'go' },
      { role: 'assistant', content: 'gone' },
    ];
    const [records] = mapAll('openai-chat', [{ messages }]).episodes;
    expect(steps(records)[0].messages?.input).toEqual([messages[0]]);
  });
});
