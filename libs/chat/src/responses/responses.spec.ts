import {
  startOpenAiServer,
  type ModelReply,
  type ModelRequest,
  type OpenAiServer,
} from '@retrace/openai-server';
import OpenAI from 'openai';
import type { Response } from 'openai/resources/responses/responses';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { knownDefaults } from '../servers/model-servers.js';
import type { RecordedCall } from '../calls/protocol.js';
import { recordingFetch } from '../calls/recording-fetch.fixture.js';
import { ResponseMemory } from './response-memory.js';
import { createResponses } from './responses.js';

/** Calls of OpenAI's own SDK; the record is compared with the response that the SDK gave. */
let reply: ModelReply | ((request: ModelRequest) => ModelReply);
let server: OpenAiServer;
let calls: RecordedCall[];
let openai: OpenAI;

beforeEach(async () => {
  server = await startOpenAiServer((request) => (typeof reply === 'function' ? reply(request) : reply));
  connect();
});

afterEach(() => server.close());

function connect(memory?: ResponseMemory): void {
  const recording = recordingFetch(createResponses(memory));
  calls = recording.calls;
  openai = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0, fetch: recording.fetch });
}

const TOOL = {
  type: 'function',
  name: 'weather',
  description: null,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
} as const;
const WITH_TOOLS: ModelReply = {
  reasoning: 'I need the weather.',
  content: 'Looking it up.',
  toolCalls: [{ name: 'weather', arguments: '{"city": "Oslo"}' }],
};

function call(): RecordedCall {
  expect(calls).toHaveLength(1);
  return calls[0];
}

describe('a response', () => {
  it.each([{ stream: false }, { stream: true }])(
    'is recorded as the SDK got it (stream: $stream)',
    async ({ stream }) => {
      reply = WITH_TOOLS;
      const asked = {
        model: 'gpt-test',
        instructions: 'Be brief.',
        input: 'Weather in Oslo?',
        tools: [TOOL],
        temperature: 0.5,
        max_output_tokens: 90,
      };
      const response: Response = stream
        ? await openai.responses.stream(asked).finalResponse()
        : await openai.responses.create(asked);
      const [called] = response.output.filter((item) => item.type === 'function_call');
      expect(call()).toEqual({
        model: 'gpt-test',
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Weather in Oslo?' },
        ],
        tools: [TOOL],
        output: {
          role: 'assistant',
          content: response.output_text,
          reasoning_content: 'I need the weather.',
          tool_calls: [
            {
              id: called.call_id,
              type: 'function',
              function: { name: called.name, arguments: called.arguments },
            },
          ],
        },
        otherOutputs: [],
        finishReason: 'completed',
        usage: {
          inputTokens: response.usage?.input_tokens,
          cachedInputTokens: response.usage?.input_tokens_details.cached_tokens,
          outputTokens: response.usage?.output_tokens,
          reasoningTokens: response.usage?.output_tokens_details.reasoning_tokens,
        },
        sampling: { temperature: 0.5, topP: 1, maxNewTokens: 90 },
        tokens: null,
        weightVersion: null,
        responseId: response.id,
        error: null,
        isCut: false,
      });
      expect(response.output_text).toBe('Looking it up.');
    },
  );

  it('that ends at its limit of tokens has that as its finish reason', async () => {
    reply = { content: 'Half a', finishReason: 'length' };
    await openai.responses.create({ model: 'gpt-test', input: 'Hello' });
    expect(call()).toMatchObject({ finishReason: 'max_output_tokens', isCut: false, error: null });
  });

  it('that HTTP refuses is recorded with its error and without an output', async () => {
    reply = { status: 429, content: 'slow down' };
    const refused = openai.responses.create({ model: 'gpt-test', input: 'Hello', stream: true });
    await expect(refused).rejects.toThrow('slow down');
    expect(call()).toMatchObject({
      error: { status: 429, message: 'slow down' },
      output: null,
      usage: null,
      prompt: [{ role: 'user', content: 'Hello' }],
    });
  });

  it('whose stream breaks is recorded as far as it came, as cut', async () => {
    reply = {
      reasoning: 'I need the weather.',
      content: 'one two three four five six seven eight',
      breaks: true,
    };
    const stream = await openai.responses.create({ model: 'gpt-test', input: 'Hello', stream: true });
    let text = '';
    const read = async () => {
      for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    };
    await expect(read()).rejects.toThrow();
    expect(text).not.toBe('');
    expect(call()).toMatchObject({
      isCut: true,
      finishReason: null,
      responseId: 'resp_1',
      output: { content: text, reasoning_content: 'I need the weather.' },
    });
  });
});

describe('events of a stream', () => {
  function read(events: readonly object[]): RecordedCall {
    const reader = createResponses().open({ input: 'Hello', stream: true }, knownDefaults('openai')).reader();
    for (const event of events) reader.add({ event: null, data: JSON.stringify(event) });
    return reader.finish(true);
  }
  const response = { id: 'resp_9', object: 'response', status: 'in_progress', model: 'gpt-test', output: [] };
  const begun = { type: 'response.created', response };

  it('that fail the response give its error', () => {
    const error = { code: 'server_error', message: 'the model failed' };
    const failed = { type: 'response.failed', response: { ...response, status: 'failed', error } };
    expect(read([begun, failed])).toMatchObject({
      error: { status: 200, message: 'the model failed' },
      finishReason: 'failed',
      output: null,
      isCut: false,
    });
    const event = { type: 'error', code: 'rate_limit_exceeded', message: 'too fast', param: null };
    expect(read([begun, event])).toMatchObject({ error: { status: 200, message: 'too fast' }, isCut: false });
  });

  it('that stop in the arguments of a call give the arguments so far', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '' };
    const added = { type: 'response.output_item.added', output_index: 1, item };
    const delta = { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"ci' };
    const summary = {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: 0,
      delta: 'Hm.',
    };
    const reasoning = {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', summary: [] },
    };
    expect(read([begun, reasoning, summary, added, delta])).toMatchObject({
      isCut: true,
      output: {
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"ci' } }],
      },
    });
  });
});

describe('a conversation that the server holds', () => {
  const first = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Oslo?' },
    expect.objectContaining({ role: 'assistant', content: 'Looking it up.' }) as unknown,
  ];

  async function ask(): Promise<Response> {
    reply = WITH_TOOLS;
    return openai.responses.create({
      model: 'gpt-test',
      instructions: 'Be brief.',
      input: 'Weather in Oslo?',
    });
  }

  it('is recorded whole when a request names the previous response, and has the instructions of each request', async () => {
    const { id } = await ask();
    reply = { content: 'Cold.' };
    const next = { model: 'gpt-test', previous_response_id: id, instructions: 'Be rude.' };
    const { id: second } = await openai.responses.create({
      ...next,
      input: [{ type: 'function_call_output', call_id: 'call_1_0', output: '-7' }],
    });
    await openai.responses.create({ model: 'gpt-test', previous_response_id: second, input: 'Thanks' });
    expect(calls[1].prompt).toEqual([
      { role: 'system', content: 'Be rude.' },
      ...first.slice(1),
      { role: 'tool', content: '-7', tool_call_id: 'call_1_0' },
    ]);
    expect(calls[2].prompt).toEqual([
      ...calls[1].prompt.slice(1),
      { role: 'assistant', content: 'Cold.' },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  it('is recorded whole by the name of the conversation', async () => {
    const conversation = 'conv_1';
    reply = { content: 'Hi.' };
    await openai.responses.create({ model: 'gpt-test', conversation, input: 'Hello' });
    await openai.responses.create({ model: 'gpt-test', conversation: { id: conversation }, input: 'Again' });
    expect(calls[1].prompt.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Hi.'],
      ['user', 'Again'],
    ]);
  });

  it('may be named item by item', async () => {
    const { output } = await ask();
    await openai.responses.create({
      model: 'gpt-test',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Weather in Oslo?' },
        ...output.map(({ id }) => ({ type: 'item_reference' as const, id: id! })),
        { type: 'function_call_output', call_id: 'call_1_0', output: '-7' },
      ],
    });
    expect(calls[1].prompt.slice(0, 3)).toEqual([...calls[0].prompt, calls[0].output]);
  });

  it('is recorded as it was sent when the response is unknown or was not stored', async () => {
    reply = { content: 'Hi.' };
    const { id } = await openai.responses.create({ model: 'gpt-test', input: 'Hello', store: false });
    await openai.responses.create({ model: 'gpt-test', previous_response_id: id, input: 'Again' });
    await openai.responses.create({ model: 'gpt-test', previous_response_id: 'resp_other', input: 'Again' });
    expect(calls.slice(1).map(({ prompt }) => prompt)).toEqual(
      Array(2).fill([{ role: 'user', content: 'Again' }]),
    );
  });

  it('is forgotten from its oldest response on when it grows too large', async () => {
    connect(new ResponseMemory(1_000));
    reply = { content: 'x'.repeat(600) };
    const ids: string[] = [];
    for (const previous of [undefined, 0, 0]) {
      const { id } = await openai.responses.create({
        model: 'gpt-test',
        input: 'Hello',
        ...(previous !== undefined && { previous_response_id: ids[previous] }),
      });
      ids.push(id);
    }
    expect(calls.map(({ prompt }) => prompt.length)).toEqual([1, 3, 1]);
  });
});

it('a request that makes no sense is passed on and recorded without a prompt', () => {
  const call = createResponses().open(
    { input: 7, tools: 'none', previous_response_id: null },
    knownDefaults('openai'),
  );
  expect(call.read({ status: 400, body: { detail: 'input must be text' } })).toMatchObject({
    model: null,
    prompt: [],
    tools: null,
    error: { status: 400, message: 'input must be text' },
  });
});
