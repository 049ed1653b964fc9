import type { JsonObject } from '@retrace/client';
import { describe, expect, it } from 'vitest';
import { CHAT_FORM, COMPLETIONS_FORM, type AnswerForm, type ChoiceAddition } from './answer-form.js';
import { CHAT_COMPLETIONS } from './chat-completions.js';
import { COMPLETIONS } from './completions.js';
import { LogprobsWriter } from './logprobs-writer.js';

const LOGPROBS = new LogprobsWriter({
  tokenizer: { decode: ([id]) => `t${id}` },
  mode: 'raw_logprobs',
  namesTokensById: false,
});
const WORDS: ChoiceAddition = {
  content: 'It is',
  toolCalls: [],
  columns: {
    tokenIds: Int32Array.of(4, 7),
    logprobs: Float32Array.of(-9, -9),
    rawLogprobs: Float32Array.of(-0.5, -0.25),
    likeliest: null,
  },
  textOffset: 0,
  end: null,
};
const END: ChoiceAddition = {
  ...WORDS,
  content: '',
  toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at": 3.0}' } }],
  columns: {
    ...WORDS.columns,
    tokenIds: Int32Array.of(2),
    logprobs: Float32Array.of(-9),
    rawLogprobs: Float32Array.of(-2),
  },
  end: { finishReason: 'tool_calls', stopReason: null },
};

function chunkOf(form: AnswerForm, delta: ChoiceAddition, isFirst: boolean): string {
  const choice = form.chunk({ index: 0, delta, logprobs: LOGPROBS }, isFirst);
  const ids = { token_ids: [...delta.columns.tokenIds], ...(isFirst && { prompt_token_ids: [1] }) };
  return JSON.stringify({ choices: [{ ...choice, ...ids }] });
}

describe('An answer that is written in chunks', () => {
  it.each([
    { api: 'chat', form: CHAT_FORM, protocol: CHAT_COMPLETIONS, calls: END.toolCalls },
    { api: 'completions', form: COMPLETIONS_FORM, protocol: COMPLETIONS, calls: undefined },
  ])('is read back with its text, tokens and end: $api', ({ form, protocol, calls }) => {
    const reader = protocol.open({ messages: [], stream: true }, {}).reader();
    for (const [n, delta] of [WORDS, END].entries())
      reader.add({ event: null, data: chunkOf(form, delta, n === 0) });
    expect(reader.finish(true)).toMatchObject({
      output: { role: 'assistant', content: 'It is', ...(calls && { tool_calls: calls }) },
      tokens: { promptIds: [1], sampledIds: [4, 7, 2], logprobs: [-0.5, -0.25, -2] },
      finishReason: 'tool_calls',
      isCut: false,
    });
  });

  it('whose words are none beside a call has null as its content, whole', () => {
    const choice = CHAT_FORM.whole({ index: 0, delta: END, logprobs: null }) as JsonObject;
    expect(choice).toMatchObject({ message: { content: null, tool_calls: END.toolCalls }, logprobs: null });
  });
});
