import { describe, expect, it } from 'vitest';
import { RowFault } from '../skip.js';
import { mapAll, startOf, steps } from '../testing/map-all.js';

type Values = Readonly<Record<string, string | number>>;

/** A row of OTLP's JSON with one span. */
function row(name: string, attributes: Values, fields: object = {}) {
  const list = Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
  }));
  const span = {
    traceId: '000000000000000000000000000000c2',
    spanId: '0000000000000015',
    name,
    startTimeUnixNano: '1767607200000000000',
    endTimeUnixNano: '1767607201000000000',
    attributes: list,
    ...fields,
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}

const onlyStep = (...rows: readonly unknown[]) => steps(mapAll('otlp', rows).episodes[0])[0];
const WEATHER = { type: 'function', function: { name: 'weather', parameters: {} } };
const OPEN_INFERENCE = {
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'm',
  'llm.input_messages.0.message.role': 'user',
  'llm.input_messages.0.message.content': 'q1',
};

describe('spans of OpenInference', () => {
  // The first is the fixture 17-openinference.jsonl.
  it('are steps with messages, calls, usage, sampling and tools', () => {
    const answer = {
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'a1',
    };
    expect(onlyStep(row('ChatCompletion', { ...OPEN_INFERENCE, ...answer }))).toMatchObject({
      messages: { input: [{ role: 'user', content: 'q1' }], output: { role: 'assistant', content: 'a1' } },
      model: 'm',
    });
    const call = {
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c1',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'weather',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city": "Oslo"}',
      'llm.token_count.prompt': 5,
      'llm.token_count.completion': 2,
      'llm.invocation_parameters': '{"temperature": 0.5, "max_tokens": 9}',
      'llm.tools.0.tool.json_schema': JSON.stringify(WEATHER),
    };
    expect(onlyStep(row('ChatCompletion', { ...OPEN_INFERENCE, ...call }))).toMatchObject({
      messages: {
        output: { tool_calls: [{ id: 'c1', function: { name: 'weather', arguments: '{"city": "Oslo"}' } }] },
      },
      usage: { inputTokens: 5, outputTokens: 2 },
      sampling: { temperature: 0.5, maxNewTokens: 9 },
      info: { toolDefinitions: [WEATHER] },
    });
  });

  it('are read from parts of a content, and from whole requests', () => {
    const parts = {
      ...OPEN_INFERENCE,
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.contents.0.message_content.type': 'text',
      'llm.output_messages.0.message.contents.0.message_content.text': 'a1',
    };
    expect(onlyStep(row('x', parts)).messages?.output).toEqual({ role: 'assistant', content: 'a1' });
    const whole = {
      'openinference.span.kind': 'LLM',
      'input.value': JSON.stringify({ messages: [{ role: 'user', content: 'q1' }] }),
      'output.value': JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'a1' } }] }),
    };
    expect(onlyStep(row('x', whole)).messages).toEqual({
      input: [{ role: 'user', content: 'q1' }],
      output: { role: 'assistant', content: 'a1' },
    });
  });
});

describe("spans of Langfuse's SDK", () => {
  const generation = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.model.name': 'm',
    'langfuse.observation.input': '[{"role": "user", "content": "q"}]',
    'langfuse.observation.output': '{"role": "assistant", "content": "a"}',
  };
  // The fixture 17-langfuse-otel.jsonl, with what else the SDK writes.
  it('are steps with messages, usage, cost and sampling', () => {
    const more = {
      'langfuse.observation.model.parameters': '{"temperature": 0.5}',
      'langfuse.observation.usage_details': '{"input": 5, "output": 2}',
      'langfuse.observation.cost_details': '{"total": 0.25}',
      'session.id': 's1',
    };
    const [records] = mapAll('otlp', [row('llm', { ...generation, ...more })]).episodes;
    expect(steps(records)).toMatchObject([
      {
        messages: { input: [{ role: 'user', content: 'q' }], output: { role: 'assistant', content: 'a' } },
        model: 'm',
        usage: { inputTokens: 5, outputTokens: 2, costUsd: 0.25 },
        sampling: { temperature: 0.5 },
      },
    ]);
    expect(startOf(records).metadata).toMatchObject({ conversationId: 's1' });
  });

  it('without an answer are none, with the words of the failure', () => {
    const { 'langfuse.observation.output': _, ...failed } = generation;
    const level = {
      'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'too long',
    };
    const rows = [
      row('llm', { ...failed, ...level }),
      row('llm', generation, { spanId: '0000000000000016' }),
    ];
    expect(mapAll('otlp', rows).skipped).toMatchObject([
      { code: 'CALL_FAILED', detail: expect.stringContaining('too long') as string },
    ]);
  });
});

describe('an attribute that was cut', () => {
  const prompt = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'x'.repeat(200) }] }]);
  const answer = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'a' }] }]);
  const call = (input: string, output: string) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.input.messages': input,
    'gen_ai.output.messages': output,
  });

  it('is named in the step, which no update trains on', () => {
    const step = onlyStep(row('chat', call(prompt.slice(0, 128), answer), { droppedAttributesCount: 2 }));
    expect(step.info).toEqual({
      cutAttributes: ['gen_ai.input.messages', '2 attributes that were dropped'],
    });
    expect(step.untrainable).toMatch(/gen_ai\.input\.messages/);
    expect(onlyStep(row('chat', call(prompt, answer))).info).toBeUndefined();
  });

  it('is named where it was the answer', () => {
    const rows = [row('chat', call(prompt, `${answer.slice(0, -3)}${' '.repeat(40)}`))];
    expect(() => mapAll('otlp', rows)).toThrow(RowFault);
    const both = [...rows, row('chat', call(prompt, answer), { spanId: '0000000000000016' })];
    expect(mapAll('otlp', both).skipped).toMatchObject([
      { detail: expect.stringContaining('gen_ai.output.messages') as string },
    ]);
  });
});
