import type { JsonObject, JsonValue } from '@retrace/client';
import { describe, expect, it } from 'vitest';
import { knownDefaults } from './servers/model-servers.js';
import { CHAT_COMPLETIONS } from './completions/chat-completions.js';
import { COMPLETIONS } from './completions/completions.js';
import { MESSAGES } from './messages/messages.js';
import type { Protocol, RecordedCall } from './calls/protocol.js';
import { createResponses } from './responses/responses.js';

const UNREADABLE = 'an event of the answer could not be read';
const IDS = [100, 101, 102, 103, 104];
const WORDS = ['one ', 'two ', 'three ', 'four ', 'five'];
const USAGE = { prompt_tokens: 2, completion_tokens: 5 };

/** The events of an answer of five tokens by each protocol; the tokens are in the events from `first` on. */
const STREAMS: Readonly<
  Record<string, { protocol: Protocol; events: readonly JsonObject[]; first: number }>
> = {
  'chat completions': {
    protocol: CHAT_COMPLETIONS,
    events: [
      { prompt_token_ids: [1, 2], choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
      ...IDS.map((id, i) => ({
        choices: [
          {
            index: 0,
            delta: { content: WORDS[i] },
            token_ids: [id],
            logprobs: { content: [{ logprob: -1 }] },
          },
        ],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: USAGE },
    ],
    first: 1,
  },
  completions: {
    protocol: COMPLETIONS,
    events: [
      ...IDS.map((id, i) => ({
        choices: [
          {
            ...{ index: 0, text: WORDS[i], token_ids: [id], logprobs: { token_logprobs: [-1] } },
            ...(i === 0 && { prompt_token_ids: [1, 2] }),
            finish_reason: i === 4 ? 'stop' : null,
          },
        ],
      })),
      { choices: [], usage: USAGE },
    ],
    first: 0,
  },
  messages: {
    protocol: MESSAGES,
    events: [
      { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 2 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...WORDS.map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ],
    first: 2,
  },
  responses: {
    protocol: createResponses(),
    events: [
      { type: 'response.created', response: { id: 'r', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', role: 'assistant', content: [] },
      },
      ...WORDS.map((delta) => ({
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: 0,
        delta,
      })),
      // Some servers leave out of the last event what they have sent already.
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
    ].map((event, i) => ({ ...event, sequence_number: i })),
    first: 2,
  },
};

function readAll(protocol: Protocol, data: readonly string[]): RecordedCall {
  const asked = { model: 'm', messages: [], prompt: 'p', input: 'i', stream: true };
  const reader = protocol.open(asked, knownDefaults('vllm')).reader();
  for (const each of data) reader.add({ event: null, data: each });
  return reader.finish(true);
}

const texts = (events: readonly JsonValue[]) => events.map((event) => JSON.stringify(event));

describe.each(Object.entries(STREAMS))('an answer by %s', (name, { protocol, events, first }) => {
  const done = protocol === CHAT_COMPLETIONS || protocol === COMPLETIONS ? ['[DONE]'] : [];
  const read = (data: readonly string[]) => readAll(protocol, [...data, ...done]);
  const all = texts(events);

  it('has no hole when all events come', () => {
    const call = read(all);
    expect(call.hole).toBeUndefined();
    expect(call).toMatchObject({ isCut: false, error: null, output: { content: WORDS.join('') } });
  });

  it('is cut at an event that can not be read', () => {
    const third = first + 2;
    for (const broken of [all[third].slice(0, -9), '<html>', '7', 'null', '[]']) {
      const call = read(all.with(third, broken));
      expect(call).toMatchObject({ isCut: true, hole: UNREADABLE, output: { content: 'one two ' } });
    }
  });

  it('is never whole where any single event can not be read', () => {
    for (let i = 0; i < all.length; i++)
      expect(read(all.with(i, all[i].slice(0, -3)))).toMatchObject({ isCut: true, hole: UNREADABLE });
  });

  it('does not mind an event without data', () => {
    expect(read(all.toSpliced(first + 2, 0, '', ' '))).toEqual(read(all));
  });

  it('is never whole where a token never comes, as far as the protocol can tell', () => {
    const call = read(all.toSpliced(first + 2, 1));
    if (name === 'messages') expect(call.hole).toBeUndefined();
    else if (name === 'responses')
      expect(call).toMatchObject({
        isCut: true,
        hole: 'event 4 of the answer never came',
        output: { content: 'one two ' },
      });
    else
      expect(call).toMatchObject({
        hole: '4 sampled token ids where the usage says 5',
        tokens: { sampledIds: [100, 101, 103, 104] },
      });
  });
});

describe('a chunk', () => {
  it.each<[string, JsonObject]>([
    ['token ids that are none', { index: 0, delta: { content: 'x' }, token_ids: [7, '8'] }],
    ['a content that is no text', { index: 0, delta: { content: 7 } }],
    ['a tool call that is no object', { index: 0, delta: { tool_calls: ['x'] } }],
    ['a delta that is no object', { index: 0, delta: 'x' }],
  ])('with %s is a hole', (_, choice) => {
    const call = readAll(CHAT_COMPLETIONS, [
      ...texts([{ choices: [{ index: 0, delta: { content: 'a' } }] }, { choices: [choice] }]),
      ...texts([{ choices: [{ index: 0, delta: { content: 'b' }, finish_reason: 'stop' }] }]),
    ]);
    expect(call).toMatchObject({ isCut: true, hole: UNREADABLE, output: { content: 'a' } });
  });

  it('of a tool call whose first chunk never came is a hole', () => {
    const more = { tool_calls: [{ index: 0, function: { arguments: '{}' } }] };
    const call = readAll(
      CHAT_COMPLETIONS,
      texts([{ choices: [{ index: 0, delta: more, finish_reason: 'stop' }] }]),
    );
    expect(call).toMatchObject({ isCut: true, hole: 'the first event of a tool call never came' });
  });
});

describe('a message', () => {
  const { events } = STREAMS.messages;

  it.each([
    ['the start of a block', 1, 'the start of block 0 of the answer never came'],
    ['the end of a block', 7, 'the end of block 0 of the answer never came'],
    ['the reason of its end', 8, 'the reason why the answer ends never came'],
  ])('without %s is cut', (_, i, hole) => {
    expect(readAll(MESSAGES, texts(events.toSpliced(i, 1)))).toMatchObject({ isCut: true, hole });
  });
});

describe('a response', () => {
  it('is whole where its last event holds it, whatever was lost before', () => {
    const { protocol, events } = STREAMS.responses;
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'all' }] }];
    const last = { ...events[7], response: { id: 'r', status: 'completed', output } };
    const call = readAll(protocol, texts(events.toSpliced(3, 1).with(-1, last)).with(1, '<html>'));
    expect(call.hole).toBeUndefined();
    expect(call).toMatchObject({ isCut: false, output: { content: 'all' } });
  });
});

describe('an answer in one piece', () => {
  const chat = (choice: JsonObject, more: JsonObject = {}) =>
    CHAT_COMPLETIONS.open({ messages: [] }, knownDefaults('vllm')).read({
      status: 200,
      body: {
        prompt_token_ids: [1, 2],
        usage: USAGE,
        choices: [{ message: { content: 'x' }, token_ids: IDS, finish_reason: 'stop', ...choice }],
        ...more,
      },
    });

  it('is whole where the usage counts its tokens, of all its choices', () => {
    expect(chat({}).hole).toBeUndefined();
    const two = [IDS.slice(0, 2), IDS.slice(2)].map((token_ids) => ({
      message: { content: 'x' },
      token_ids,
    }));
    expect(chat({}, { choices: two }).hole).toBeUndefined();
    expect(chat({}, { usage: null }).hole).toBeUndefined();
  });

  it('has a hole where the usage counts other tokens, and keeps its text', () => {
    expect(chat({ token_ids: [100, 101, 103, 104] })).toMatchObject({
      isCut: false,
      hole: '4 sampled token ids where the usage says 5',
      output: { content: 'x' },
    });
    expect(chat({}, { prompt_token_ids: [1] }).hole).toBe('1 prompt token ids where the usage says 2');
    const response = createResponses()
      .open({ input: 'i' }, knownDefaults('vllm'))
      .read({
        status: 200,
        body: {
          input_messages: [{ tokens: [1, 2] }],
          output_messages: [{ tokens: [5] }],
          output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }],
          usage: { input_tokens: 2, output_tokens: 3 },
        },
      });
    expect(response).toMatchObject({ isCut: false, hole: '1 sampled token ids where the usage says 3' });
  });

  it('is cut at a part that can not be read', () => {
    expect(chat({ token_ids: [100, null] })).toMatchObject({
      isCut: true,
      hole: 'token_ids of the answer could not be read',
      tokens: null,
    });
    expect(chat({ message: { content: 'x', tool_calls: [7] } }).hole).toBe(
      'tool_calls of the answer could not be read',
    );
    const message = MESSAGES.open({ messages: [] }, knownDefaults('anthropic')).read({
      status: 200,
      body: {
        content: [{ type: 'text', text: 'a' }, 'x', { type: 'text', text: 'b' }],
        stop_reason: 'end_turn',
      },
    });
    expect(message).toMatchObject({
      isCut: true,
      hole: 'content of the answer could not be read',
      output: { content: 'a' },
    });
    const completion = COMPLETIONS.open({ prompt: 'p' }, knownDefaults('vllm')).read({
      status: 200,
      body: { choices: [{ text: 7 }] },
    });
    expect(completion.hole).toBe('text of the answer could not be read');
    const response = createResponses()
      .open({ input: 'i' }, knownDefaults('vllm'))
      .read({ status: 200, body: { output: [{ type: 'message', content: [null] }] } });
    expect(response.hole).toBe('content of the answer could not be read');
  });

  it('that HTTP refuses has an error, and no hole', () => {
    const refused = CHAT_COMPLETIONS.open({ messages: [] }, knownDefaults('vllm')).read({
      status: 500,
      body: { error: 'no' },
    });
    expect(refused).toMatchObject({ error: { status: 500 } });
    expect(refused.hole).toBeUndefined();
  });
});
