import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FormatName } from '../format.js';
import { identifyFile, importRows } from '../import-rows.js';
import { steps } from '../testing/map-all.js';
import { FORMATS } from './formats.js';

const directory = mkdtempSync(join(tmpdir(), 'retrace-exact-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** Beyond 2^53, and written in ways that a parsed number does not keep. */
const GIVEN = '{"id": 12345678901234567890, "10": 3.0, "2": 1e-07}';
const WRITTEN = '{"id":12345678901234567890,"10":3.0,"2":1e-07}';
const ESCAPED = JSON.stringify(GIVEN);
const call = (name: string, given: string) =>
  `{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "${name}", "arguments": ${given}}}]}`;

/** A row of each format whose call has its arguments as an object. */
const ROWS: readonly (readonly [FormatName, string])[] = [
  [
    'openai-chat',
    `{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": ${GIVEN}}]}]}`,
  ],
  ['openai-chat', `{"messages": [{"role": "user", "content": "q"}, ${call('f', GIVEN)}]}`],
  [
    'openai-chat',
    `{"messages": [{"role": "user", "content": "q"}, {"role": "tool_call", "content": ${JSON.stringify(`{"name": "f", "arguments": ${GIVEN}}`)}}]}`,
  ],
  [
    'sharegpt',
    `{"conversations": [{"from": "human", "value": "q"}, {"from": "function_call", "value": ${JSON.stringify(`{"name": "f", "arguments": ${GIVEN}}`)}}]}`,
  ],
  [
    'atif',
    `{"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": ${GIVEN}}]}]}`,
  ],
  [
    'langfuse',
    `{"id": "g", "trace_id": "t", "type": "GENERATION", "start_time": "2026-01-05 10:00:01.000000", "input": "q", "output": ${JSON.stringify(call('f', GIVEN))}}`,
  ],
  [
    'langfuse',
    `{"id": "g", "trace_id": "t", "type": "GENERATION", "start_time": "2026-01-05 10:00:01.000000", "input": "q", "output": ${call('f', GIVEN)}}`,
  ],
  [
    'agent-lightning-events',
    `{"rollout_id": "r", "event_type": "model_request", "timestamp": 1767607200.0, "data": {"request": {"messages": []}, "response": {"choices": [{"message": ${call('f', GIVEN)}}]}}}`,
  ],
  [
    'otlp',
    `{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "000000000000000000000000000000c2", "spanId": "0000000000000015", "name": "chat", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": ${JSON.stringify(`[{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": ${GIVEN}}]}]`)}}}]}]}]}]}`,
  ],
];

async function stepsOf(name: FormatName, text: string) {
  const format = FORMATS.find((each) => each.name === name);
  if (format === undefined) throw new Error(name);
  const path = join(directory, 'rows.jsonl');
  writeFileSync(path, text);
  const found = [];
  for await (const item of importRows([await identifyFile({ path, name: 'rows.jsonl' })], format))
    found.push(item);
  return found.flatMap((item): readonly object[] =>
    item.kind === 'episode' ? steps(item.records) : [item.skip],
  );
}

describe('numbers of an import', () => {
  it.each(ROWS)('in the arguments of a call of %s stay as they were written', async (name, text) => {
    const [step] = await stepsOf(name, `${text}\n`);
    expect(step).toMatchObject({
      messages: { output: { tool_calls: [{ function: { name: 'f', arguments: WRITTEN } }] } },
    });
  });

  it('stay so where a dump is so large that its rows are divided into files', async () => {
    const [, text] = ROWS[5];
    const large = `${text}\n${text.replace('"t"', '"u"').replace('"q"', JSON.stringify('x'.repeat(25e6)))}\n`;
    const found = (await stepsOf('langfuse', large)) as { messages: { output: { tool_calls: unknown[] } } }[];
    expect(found.map(({ messages }) => messages.output.tool_calls)).toEqual([
      [{ id: 'c', type: 'function', function: { name: 'f', arguments: WRITTEN } }],
      [{ id: 'c', type: 'function', function: { name: 'f', arguments: WRITTEN } }],
    ]);
  });

  it('in what is kept beside a step are exact, as text', async () => {
    const row =
      '{"input": "q", "output": "a", "score": 1, "gts": 12345678901234567890, "uid": 9007199254740993}';
    expect(await stepsOf('verl', row)).toMatchObject([{ info: { groundTruth: '12345678901234567890' } }]);
  });

  it('in lists and objects of OTLP are numbers in the arguments', async () => {
    const value = {
      kvlistValue: {
        values: [
          {
            key: 'ids',
            value: { arrayValue: { values: [{ intValue: '9007199254740993' }, { intValue: '5' }] } },
          },
          { key: 'n', value: { intValue: '-9223372036854775808' } },
        ],
      },
    };
    const part = {
      kvlistValue: {
        values: [
          { key: 'type', value: { stringValue: 'tool_call' } },
          { key: 'name', value: { stringValue: 'f' } },
          { key: 'arguments', value },
        ],
      },
    };
    const message = {
      kvlistValue: {
        values: [
          { key: 'role', value: { stringValue: 'assistant' } },
          { key: 'parts', value: { arrayValue: { values: [part] } } },
        ],
      },
    };
    const span = {
      traceId: '000000000000000000000000000000c2',
      spanId: '0000000000000015',
      attributes: [
        { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
        { key: 'gen_ai.output.messages', value: { arrayValue: { values: [message] } } },
      ],
    };
    const row = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    const [step] = await stepsOf('otlp', row);
    const given = '{"ids":[9007199254740993,5],"n":-9223372036854775808}';
    expect(step).toMatchObject({
      messages: { output: { tool_calls: [{ function: { arguments: given } }] } },
    });
  });

  it('in arguments that are a text are not touched', async () => {
    const text = `{"messages": [{"role": "user", "content": "q"}, ${call('f', ESCAPED)}]}`;
    expect(await stepsOf('openai-chat', text)).toMatchObject([
      { messages: { output: { tool_calls: [{ function: { arguments: GIVEN } }] } } },
    ]);
  });
});
