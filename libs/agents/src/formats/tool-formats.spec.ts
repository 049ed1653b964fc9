import { describe, expect, it } from 'vitest';
import type { ToolSchema } from '../action-format.js';
import { actionFormat } from '../registry.js';

const CONTEXT = { legalActions: null };
const CRAFT: ToolSchema = {
  name: 'craft',
  description: 'Makes items.',
  parameters: {
    type: 'object',
    properties: { item: { type: 'string' }, count: { type: 'integer' } },
    required: ['item', 'count'],
    additionalProperties: false,
  },
};
const GO: ToolSchema = {
  name: 'go',
  parameters: {
    type: 'object',
    properties: { from: { type: 'string' }, to: { type: 'string' } },
    required: ['to'],
  },
  action: 'go to {to} from {from}',
};
const tools = [CRAFT, GO];
const strict = actionFormat('tool-call', { strict: true, tools, maxActions: 2 });
const lenient = actionFormat('tool-call', { strict: false, tools, maxActions: 2 });
const call = (name: string, values: unknown): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`;

describe('tool-call', () => {
  it('makes actions by the template of a tool, and the call itself where there is none', () => {
    const text = `<think>first a bed</think>\n${call('craft', { item: 'bed', count: 1 })}\n${call('go', { from: 'a', to: 'b' })}`;
    expect(strict.parse(text, CONTEXT)).toEqual({
      actions: ['{"name":"craft","arguments":{"item":"bed","count":1}}', 'go to b from a'],
      thought: 'first a bed',
      valid: true,
      problem: null,
      toolCalls: [
        { name: 'craft', arguments: { item: 'bed', count: 1 } },
        { name: 'go', arguments: { from: 'a', to: 'b' } },
      ],
    });
  });

  it.each([
    [call('fly', {}), 'There is no tool "fly"; there are craft, go.'],
    [
      call('craft', { item: 'bed' }),
      `The arguments of "craft" are wrong: must have required property 'count'.`,
    ],
    [
      call('craft', { item: 'bed', count: '1' }),
      'The arguments of "craft" are wrong: "count" must be integer.',
    ],
    [call('go', { to: 'b' }), 'The tool "go" needs to, from.'],
    [
      '<tool_call>{"name": "craft"}</tool_call>',
      'A call must be <tool_call>{"name": "…", "arguments": {…}}</tool_call>.',
    ],
    [call('go', { to: 'b', from: 'a' }).repeat(3), 'Only 2 calls are allowed in a turn; your answer has 3.'],
    [`${call('go', { to: 'b', from: 'a' })} and so on`, 'Nothing may follow the calls.'],
    ['go to b', 'Your answer has no <tool_call>{"name": "…", "arguments": {…}}</tool_call>.'],
  ])('strict: refuses %j', (text, problem) => {
    expect(strict.parse(text, CONTEXT)).toMatchObject({ actions: [], toolCalls: [], valid: false, problem });
  });

  it.each([
    ['a number in quotes', call('craft', { item: 'bed', count: '1' })],
    [
      'another name of the arguments',
      '<tool_call>{"name": "craft", "parameters": {"item": "bed", "count": 1}}</tool_call>',
    ],
    [
      'arguments as text',
      `<tool_call>{"name": "craft", "arguments": "{\\"item\\": \\"bed\\", \\"count\\": 1}"}</tool_call>`,
    ],
    ['broken JSON', `<tool_call>{'name': 'craft', "arguments": {"item": "bed", "count": 1,}</tool_call>`],
  ])('lenient: reads %s', (_, text) => {
    expect(lenient.parse(text, CONTEXT)).toMatchObject({
      toolCalls: [{ name: 'craft', arguments: { item: 'bed', count: 1 } }],
      valid: true,
    });
  });

  it('lenient: keeps the possible calls of a turn that has an impossible one', () => {
    const text = call('fly', {}) + call('go', { to: 'b', from: 'a' });
    expect(lenient.parse(text, CONTEXT)).toMatchObject({ actions: ['go to b from a'], valid: false });
  });

  it('shows the schemas of the tools in its instructions', () => {
    const { name, description, parameters } = CRAFT;
    expect(strict.instructions).toContain(
      JSON.stringify({ type: 'function', function: { name, description, parameters } }),
    );
  });

  it('writes an action as the call that makes it', () => {
    expect(strict.write({ thought: 'so', actions: ['go to b from a'] })).toBe(
      '<think>so</think>\n<tool_call>\n{"name":"go","arguments":{"to":"b","from":"a"}}\n</tool_call>',
    );
    expect(() => strict.write({ actions: ['jump'] })).toThrow('actions[0]: no tool makes "jump"');
  });
});

describe('json-tool-call, lenient', () => {
  it("reads OpenAI's message of calls", () => {
    const format = actionFormat('json-tool-call', { strict: false, tools });
    const message = {
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'go', arguments: '{"to":"b","from":"a"}' } },
      ],
    };
    expect(format.parse(JSON.stringify(message), CONTEXT)).toMatchObject({
      actions: ['go to b from a'],
      valid: true,
    });
  });
});

describe('tagged formats, strict', () => {
  it.each([
    ['think-action', '<action>go</action>', 'Your answer must begin with <think>…</think>.'],
    [
      'think-action',
      '<think>a</think> so <action>go</action>',
      '<action>…</action> must follow your reasoning.',
    ],
    ['think-action', '<think>a</think><action>go</action>!', 'Nothing may follow <action>…</action>.'],
    ['think-action', '<think>a <action> b</think><action>go</action>', 'Every tag may be used only once.'],
    ['think-answer', '<think>a</think><answer></answer>', '<answer> is empty.'],
    [
      'action-list',
      '<think>a</think><answer>up||up||up</answer>',
      'Only 2 actions are allowed in a turn; your answer has 3.',
    ],
    ['search-answer', '<search>a</search>', 'Your answer must begin with <think>…</think>.'],
    ['search-answer', '<think>a</think> so <search>a</search>', 'Nothing may stand outside the tags.'],
    [
      'search-answer',
      '<think>a</think><search>a</search><answer>b</answer>',
      'Search or answer once in a turn, and not both.',
    ],
  ])('%s refuses %j', (name, text, problem) => {
    const format = actionFormat(name, { strict: true, maxActions: 2 });
    expect(format.parse(text, CONTEXT)).toMatchObject({ actions: [], valid: false, problem });
  });
});

describe('tools', () => {
  it.each([
    [[], 'tools: got [], must have at least one tool'],
    [[GO, GO], 'tools: two of them have the same name'],
    [
      [{ name: 'x', parameters: { type: 'array' } }],
      'tools[0].parameters.type: got "array", must be "object"',
    ],
    [
      [{ name: 'x', parameters: { type: 'object', properties: { a: { type: 'nope' } } } }],
      'tools[0].parameters: schema is invalid',
    ],
    [[{ ...GO, action: 'go {there}' }], 'tools[0].action: has {there}, which is no argument of the tool'],
  ])('refuses %j', (bad, message) => {
    expect(() => actionFormat('tool-call', { strict: true, tools: bad })).toThrow(message);
  });
});
