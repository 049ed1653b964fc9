import type { JsonObject, JsonValue } from '@retrace/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownDefaults } from '../servers/model-servers.js';
import { CHAT_COMPLETIONS } from './chat-completions.js';
import { COMPLETIONS, hasSeveralPrompts } from './completions.js';
import { NEUTRAL_SAMPLING } from '../sampling/sampling.js';

const ASKED: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const text = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\n', '😀'), minLength: 1, maxLength: 8 });
const call = fc.record({ id: fc.uuid(), name: text, pieces: fc.array(text, { maxLength: 3 }) });
const choice = fc.record({
  words: fc.array(text, { minLength: 1, maxLength: 4 }),
  reasoning: fc.array(text, { maxLength: 2 }),
  calls: fc.array(call, { maxLength: 2 }),
});

describe('CHAT_COMPLETIONS', () => {
  it('reads a stream as the same answer in one piece, with any number of choices, reasoning and calls of tools', () => {
    fc.assert(
      fc.property(fc.array(choice, { minLength: 1, maxLength: 3 }), fc.nat(), (choices, seed) => {
        const whole = {
          id: 'c',
          model: 'm-1',
          usage: { prompt_tokens: 3, completion_tokens: 9 },
          prompt_token_ids: [1, 2],
          choices: choices.map(({ words, reasoning, calls }, index) => ({
            index,
            finish_reason: 'stop',
            token_ids: words.map((_, i) => i),
            logprobs: { content: words.map((token, i) => ({ token, logprob: -i - 0.5 })) },
            message: {
              role: 'assistant',
              content: words.join(''),
              ...(reasoning.length > 0 && { reasoning: reasoning.join('') }),
              tool_calls: calls.map(({ id, name, pieces }) => ({
                id,
                type: 'function',
                function: { name, arguments: pieces.join('') },
              })),
            },
          })),
        };
        const prepared = CHAT_COMPLETIONS.open({ ...ASKED, stream: true }, knownDefaults('vllm'));
        const reader = prepared.reader();
        const send = (chunk: JsonValue) => {
          reader.add({ event: null, data: JSON.stringify(chunk) });
        };
        const head = { id: 'c', model: 'm-1' };
        send({ ...head, prompt_token_ids: [1, 2], choices: [] });
        const queues = choices.map((each, index) => chunksOf(each, index));
        // Chunks of different choices come in any order.
        for (let i = seed; queues.some((queue) => queue.length > 0); i = i * 7 + 1) {
          const waiting = queues.filter((queue) => queue.length > 0);
          send({ ...head, choices: [waiting[i % waiting.length].shift()!] });
        }
        send({ ...head, choices: [], usage: whole.usage });
        reader.add({ event: null, data: '[DONE]' });
        expect(reader.finish(true)).toEqual(
          CHAT_COMPLETIONS.open(ASKED, knownDefaults('vllm')).read({
            status: 200,
            body: whole as unknown as JsonObject,
          }),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('says that a stream without its end is cut, and that an error in a stream failed', () => {
    const part = {
      data: '{"choices":[{"index":0,"delta":{"content":"He"},"finish_reason":null}]}',
      event: null,
    };
    const cut = CHAT_COMPLETIONS.open(ASKED, knownDefaults('openai')).reader();
    cut.add(part);
    expect(cut.finish(true)).toMatchObject({ isCut: true, output: { content: 'He' } });
    const failed = CHAT_COMPLETIONS.open(ASKED, knownDefaults('vllm')).reader();
    failed.add(part);
    failed.add({ event: null, data: '{"error":{"message":"out of memory","code":500}}' });
    expect(failed.finish(true)).toMatchObject({
      isCut: false,
      error: { status: 500, message: 'out of memory' },
    });
  });

  it('knows no log-probability where vLLM writes −9999, and none at all where their number is not that of the tokens', () => {
    const answerWith = (logprobs: number[]) =>
      CHAT_COMPLETIONS.open(ASKED, knownDefaults('vllm')).read({
        status: 200,
        body: {
          prompt_token_ids: [1],
          choices: [
            {
              token_ids: [5, 6],
              logprobs: { content: logprobs.map((logprob) => ({ logprob })) },
              message: {},
            },
          ],
        },
      }).tokens;
    expect(answerWith([-0.5, -9999])).toEqual({ promptIds: [1], sampledIds: [5, 6], logprobs: [-0.5, null] });
    expect(answerWith([-0.5])).toEqual({ promptIds: [1], sampledIds: [5, 6], logprobs: null });
  });

  it('says which parameters change what was sampled from, and not those that are off', () => {
    const reasonOf = (parameters: JsonObject) =>
      CHAT_COMPLETIONS.open({ ...ASKED, ...NEUTRAL_SAMPLING, ...parameters }, knownDefaults('vllm')).read({
        status: 200,
        body: {},
      }).untrainable;
    expect(reasonOf({ presence_penalty: 0.5, min_p: 0.1, frequency_penalty: 0 })).toBe(
      'sampled with min_p, presence_penalty',
    );
    expect(reasonOf({ response_format: { type: 'json_object' } })).toBe('sampled with response_format');
    expect(
      reasonOf({ repetition_penalty: 1, logit_bias: {}, tool_choice: 'auto', bad_words: null }),
    ).toBeUndefined();
  });
});

describe('COMPLETIONS', () => {
  it('reads the text and its tokens, and leaves the echoed prompt out of the answer', () => {
    const prepared = COMPLETIONS.open({ prompt: 'Once', echo: true, temperature: 0 }, knownDefaults('vllm'));
    const answer = { choices: [{ text: 'Once upon', finish_reason: 'length' }] };
    expect(prepared.read({ status: 200, body: answer })).toMatchObject({
      prompt: [{ role: 'user', content: 'Once' }],
      output: { role: 'assistant', content: ' upon' },
      sampling: { temperature: 0, greedy: true },
    });
  });

  it('tells several prompts from one, which may be a list of token ids', () => {
    expect(hasSeveralPrompts({ prompt: ['a', 'b'] })).toBe(true);
    expect(hasSeveralPrompts({ prompt: [[1], [2]] })).toBe(true);
    expect(hasSeveralPrompts({ prompt: [1, 2, 3] })).toBe(false);
    expect(hasSeveralPrompts({ prompt: ['a'] })).toBe(false);
  });
});

/** The chunks of one choice, as vLLM sends them: reasoning, words, calls in pieces, the end. */
function chunksOf(
  {
    words,
    reasoning,
    calls,
  }: { words: string[]; reasoning: string[]; calls: { id: string; name: string; pieces: string[] }[] },
  index: number,
): JsonObject[] {
  const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
    index,
    delta,
    finish_reason: null,
    ...more,
  });
  return [
    ...reasoning.map((part) => chunk({ reasoning: part })),
    ...words.map((content, i) =>
      chunk({ content }, { token_ids: [i], logprobs: { content: [{ token: content, logprob: -i - 0.5 }] } }),
    ),
    ...calls.flatMap(({ id, name, pieces }, i) => [
      chunk({ tool_calls: [{ index: i, id, function: { name, arguments: '' } }] }),
      ...pieces.map((piece) => chunk({ tool_calls: [{ index: i, function: { arguments: piece } }] })),
    ]),
    chunk({}, { finish_reason: 'stop' }),
  ];
}
