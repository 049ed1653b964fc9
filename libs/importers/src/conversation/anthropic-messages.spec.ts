import { describe, expect, it } from 'vitest';
import { looseMessages } from '../spans/loose-messages.js';
import { mapAll, steps } from '../testing/map-all.js';

/** A request of Anthropic's API: two calls of an answer, their results and a question in one message of the user. */
const REQUEST = {
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: 'Weather in Oslo?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Two lookups.', signature: 's' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'rain' }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'noon' },
        { type: 'text', text: 'And tomorrow?' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Snow.' }] },
  ],
};

/** As the proxy records the same request. */
const QUESTION = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Weather in Oslo?' },
];
const CALLS = {
  role: 'assistant',
  content: 'Looking.',
  reasoning_content: 'Two lookups.',
  tool_calls: [
    { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    { id: 'toolu_2', type: 'function', function: { name: 'clock', arguments: '{}' } },
  ],
};
const RESULTS = [
  { role: 'tool', content: 'rain', tool_call_id: 'toolu_1' },
  { role: 'tool', content: 'noon', tool_call_id: 'toolu_2' },
  { role: 'user', content: 'And tomorrow?' },
];

describe('messages of Anthropic', () => {
  it('are imported from chats as the proxy records them', () => {
    const [records] = mapAll('openai-chat', [REQUEST]).episodes;
    expect(steps(records).map(({ messages }) => messages)).toMatchObject([
      { input: QUESTION, output: CALLS },
      { input: RESULTS, output: { role: 'assistant' } },
    ]);
    expect(records[0]).not.toHaveProperty('metadata');
  });

  it('are read from traces in the same way', () => {
    expect(looseMessages(REQUEST)).toEqual([
      ...QUESTION,
      CALLS,
      ...RESULTS,
      { role: 'assistant', content: 'Snow.' },
    ]);
  });
});
