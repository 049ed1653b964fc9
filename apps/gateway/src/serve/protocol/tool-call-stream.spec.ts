import { describe, expect, it } from 'vitest';
import { RequestFields } from './request-fields.js';
import { ToolCallStream } from './tool-call-stream.js';
import { readTools } from './tools.js';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = readTools(
  new RequestFields({ tools: [{ type: 'function', function: { name: 'weather', parameters } }] }),
);
const call = (city: unknown) =>
  `<tool_call>{"name":"weather","arguments":{"city":${JSON.stringify(city)}}}</tool_call>`;

/** Reads a turn that comes character by character. */
function read(text: string) {
  const stream = new ToolCallStream(tools);
  const words = [...text].map((character) => stream.push(character)).join('');
  const { content, toolCalls } = stream.end();
  return { words, content, calls: toolCalls.map(({ function: called }) => [called.name, called.arguments]) };
}

describe('ToolCallStream', () => {
  it('passes words on at once, and calls at the end', () => {
    expect(read(`Let me look.\n${call('Oslo')}\n${call('Rome')}`)).toEqual({
      words: 'Let me look.',
      content: '',
      calls: [
        ['weather', '{"city":"Oslo"}'],
        ['weather', '{"city":"Rome"}'],
      ],
    });
  });

  it('keeps the numbers and the order of keys of a call as the model wrote them', () => {
    const written =
      '{"city": "Oslo", "10": 12345678901234567890, "2": [3.0, 1e-07], "1": {"b": 1, "a": "\\u00e9"}}';
    const { calls } = read(
      `<think>{}</think><tool_call>\n{"arguments": ${written}, "name": "weather"}\n</tool_call>`,
    );
    expect(calls).toEqual([['weather', written]]);
  });

  it('holds back no words that only look like the beginning of a call', () => {
    expect(read('1 <t 2 <tool')).toEqual({ words: '1 <t 2', content: ' <tool', calls: [] });
  });

  it.each([call(7), '<tool_call>{"name":"weather"', call('Oslo').replace('weather', 'other')])(
    'returns a turn with the broken call %s as words',
    (broken) => {
      const { words, content, calls } = read(`Hm. ${broken}`);
      expect([words + content, calls]).toEqual([`Hm. ${broken}`, []]);
    },
  );
});
