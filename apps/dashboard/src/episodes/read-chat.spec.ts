import { describe, expect, it } from 'vitest';
import { readChat } from './read-chat';

const NOTHING = { reasoning: '', toolCalls: [], toolCallId: '' };

describe('readChat', () => {
  it('reads roles, text, reasoning and tool calls', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    expect(
      readChat({
        input: [{ role: 'user', content: 'hi' }],
        output: { role: 'assistant', content: null, reasoning_content: 'easy', tool_calls: [call] },
      }),
    ).toEqual({
      input: [{ ...NOTHING, role: 'user', text: 'hi' }],
      output: {
        role: 'assistant',
        text: '',
        reasoning: 'easy',
        toolCalls: [{ id: 'c1', name: 'add', arguments: '{\n  "a": 1\n}' }],
        toolCallId: '',
      },
    });
  });

  it('names images and other parts of a content', () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'https://x/1.png' } },
      { type: 'input_audio' },
    ];
    expect(readChat({ input: [{ role: 'user', content }], output: null })?.input[0].text).toBe(
      'look\n[image https://x/1.png]\n[input_audio]',
    );
  });

  it('survives messages of another form, and finds none in null', () => {
    expect(readChat(null)).toBeNull();
    expect(readChat({ input: [], output: null })).toBeNull();
    expect(readChat({ input: [7, null, { role: 3, content: 4, tool_calls: [null] }], output: 'x' })).toEqual({
      input: [
        { ...NOTHING, role: 'unknown', text: '' },
        { ...NOTHING, role: 'unknown', text: '' },
        { ...NOTHING, role: 'unknown', text: '', toolCalls: [{ id: '', name: 'unknown', arguments: '' }] },
      ],
      output: null,
    });
  });
});
