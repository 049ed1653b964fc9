import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseJson, type Dict } from '@retrace/jinja';
import { loadPolicyText } from '@retrace/policy';
import { describe, expect, it } from 'vitest';
import type { PolicySupply } from '../supply/policy-supply.js';
import { readChat } from './chat-request.js';
import { RequestFields, type JsonFields } from './request-fields.js';

/** Ids that transformers made of conversations with Qwen3's template: see the generator beside them. */
const folder = new URL('../../../../../test/golden/chat-templates/', import.meta.url);
const lines = readFileSync(new URL('tokens.json', folder), 'utf8').split('\n').slice(1, -2);
const text = await loadPolicyText(fileURLToPath(new URL('tokenizer', folder)));

function promptOf(body: string): Int32Array {
  const fields = new RequestFields(JSON.parse(body) as JsonFields, {
    written: () => parseJson(body) as Dict,
  });
  return readChat(fields, { text } as PolicySupply).prompt;
}

const told = (...messages: readonly object[]) =>
  text.tokenizer.decode(promptOf(JSON.stringify({ messages })));
const user = { role: 'user', content: 'Q' };

describe('The prompt of a chat', () => {
  it.each(lines.map((line, n) => [n, line.replace(/,$/, '')] as const))(
    'has the ids of transformers for conversation %i',
    (_, line) => {
      const { ids, tools } = JSON.parse(line) as { readonly ids: readonly number[]; readonly tools: unknown };
      const [messages] = line.split(/, "tools": (?:null|\[\{"type")/);
      const toolsText = tools === null ? '' : `, "tools": ${JSON.stringify(tools)}`;
      expect([...promptOf(`${messages}${toolsText}}`)]).toEqual(ids);
    },
  );

  it('has the numbers and the order of keys of calls and tools as they were written', () => {
    const call = '{"city": "x", "10": 12345678901234567890, "2": [3.0, 1e-07, -0.0], "1": null}';
    const calls = (given: string) =>
      `[{"id": "1", "type": "function", "function": {"name": "f", "arguments": ${given}}}]`;
    const schema =
      '{"type": "object", "properties": {"b": {"default": 3.0}, "10": {"maximum": 1e+22}, "2": {"enum": [12345678901234567890]}}}';
    const body = (given: string) =>
      `{"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": null, "tool_calls": ${calls(given)}}], "tools": [{"type": "function", "function": {"name": "f", "parameters": ${schema}}}]}`;
    const prompt = text.tokenizer.decode(promptOf(body(JSON.stringify(call))));
    expect(prompt).toContain(`"arguments": ${call}`);
    expect(prompt).toContain(`"parameters": ${schema}`);
    expect([...promptOf(body(call))]).toEqual([...promptOf(body(JSON.stringify(call)))]);
  });

  it('has the thoughts of the last turns, whatever field they are in', () => {
    const calls = [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const turn = (field: string) =>
      told(
        user,
        { role: 'assistant', content: 'A', [field]: 'because', tool_calls: calls },
        { role: 'tool', content: 'R' },
      );
    expect(turn('reasoning_content')).toContain('<think>\nbecause\n</think>');
    expect(turn('reasoning')).toBe(turn('reasoning_content'));
    expect(turn('thinking')).toBe(turn('reasoning_content'));
  });

  it('may have a turn of the assistant without content, and contents in parts', () => {
    expect(told(user, { role: 'assistant', content: null }, user)).toBe(
      told(user, { role: 'assistant' }, user),
    );
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(told({ role: 'user', content: parts })).toBe(told({ role: 'user', content: 'ab' }));
    expect(() => told({ role: 'user', content: null })).toThrow(
      /"messages\[0\].content" must be a text or a list/,
    );
  });
});
