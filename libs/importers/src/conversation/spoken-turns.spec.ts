import { describe, expect, it } from 'vitest';
import { endOf, mapAll, startOf, steps } from '../testing/map-all.js';

describe('trajectories with a reward and an info a turn', () => {
  it('give them to the step before, with how the episode ended', () => {
    const row = {
      item_id: 'webshop_12',
      conversations: [
        { from: 'human', value: 'Instructions.', loss: null, reward: 0, info: null },
        { from: 'gpt', value: 'search[x]', loss: true },
        { from: 'human', value: 'Results.', loss: null, reward: 0.25, info: { page: 2 } },
        { from: 'gpt', value: 'buy', loss: true },
        { from: 'human', value: 'Thank you.', loss: null, reward: 1, info: { done: true } },
      ],
      reward: 1.25,
      info: { success: true, end_reason: 'terminated', task: '{"index":12}', agent: 'expert' },
    };
    const [records] = mapAll('agentgym', [row]).episodes;
    expect(steps(records)).toMatchObject([
      { reward: 0.25, info: { page: 2 } },
      { reward: 1, info: { done: true } },
    ]);
    expect(startOf(records)).toMatchObject({ environment: 'webshop', task: { index: 12 }, agent: 'expert' });
    expect(endOf(records)).toMatchObject({
      ...{ endReason: 'terminated', success: true, finalObservation: 'Thank you.' },
    });
    expect(endOf(records)).not.toHaveProperty('detail');
  });

  it('have the reward of a last turn that nothing follows at that turn', () => {
    const conversations = [
      { from: 'human', value: 'q' },
      { from: 'gpt', value: 'a', reward: 0.5, info: { x: 1 } },
    ];
    for (const format of ['agentgym', 'sharegpt'] as const) {
      const [records] = mapAll(format, [{ conversations }]).episodes;
      expect(steps(records)).toMatchObject([{ reward: 0.5, info: { x: 1 } }]);
    }
  });
});

describe('calls of one turn that a data set lists one by one', () => {
  const call = (city: string) => `{"name": "weather", "arguments": {"city": "${city}"}}`;
  const CALLS = ['Bern', 'Oslo'].map((city) => ({
    function: { name: 'weather', arguments: `{"city":"${city}"}` },
  }));

  it('are one step, with the text before them (ms-swift)', () => {
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'Both.' },
      { role: 'tool_call', content: call('Bern') },
      { role: 'tool_call', content: call('Oslo') },
      { role: 'tool_response', content: 'clear' },
      { role: 'tool_response', content: 'rain' },
      { role: 'assistant', content: 'Clear and rain.' },
    ];
    const [records] = mapAll('openai-chat', [{ messages }]).episodes;
    expect(steps(records).map(({ messages: said }) => said)).toMatchObject([
      { input: [{ role: 'user' }], output: { content: 'Both.', tool_calls: CALLS } },
      { input: [{ content: 'clear' }, { content: 'rain' }], output: { content: 'Clear and rain.' } },
    ]);
    expect(steps(records)[0].action).toBe('Both.');
    const conversations = messages.map(({ role, content }) => ({ from: role, value: content }));
    const [same] = mapAll('sharegpt', [
      { conversations: [conversations[0], ...conversations.slice(2)] },
    ]).episodes;
    expect(steps(same)).toHaveLength(2);
    expect(steps(same)[0]).toMatchObject({ messages: { output: { content: null, tool_calls: CALLS } } });
  });

  it('are steps of their own where a result is between them', () => {
    const messages = ['tool_call', 'tool', 'tool_call'].map((role) => ({ role, content: call('Bern') }));
    const [records] = mapAll('openai-chat', [{ messages }]).episodes;
    expect(steps(records)).toHaveLength(2);
  });
});
