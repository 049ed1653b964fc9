import Anthropic from '@anthropic-ai/sdk';
import { startOpenAiServer, type ModelReply, type OpenAiServer } from '@retrace/openai-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { knownDefaults } from '../servers/model-servers.js';
import { MESSAGES } from './messages.js';
import type { RecordedCall } from '../calls/protocol.js';
import { recordingFetch } from '../calls/recording-fetch.fixture.js';

/** Calls of Anthropic's own SDK; the record is compared with the message that the SDK gave. */
let reply: ModelReply;
let server: OpenAiServer;
let calls: RecordedCall[];
let anthropic: Anthropic;

beforeAll(async () => {
  server = await startOpenAiServer(() => reply);
});

afterAll(() => server.close());

beforeEach(() => {
  const recording = recordingFetch(MESSAGES, 'anthropic');
  calls = recording.calls;
  const baseURL = server.url.replace('/v1', '');
  anthropic = new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0, fetch: recording.fetch });
});

const TOOL = {
  name: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} satisfies Anthropic.Tool;
const HELLO = {
  model: 'claude-test',
  max_tokens: 90,
  messages: [{ role: 'user', content: 'Hello' }],
} satisfies Anthropic.MessageCreateParamsNonStreaming;
const WITH_TOOLS: ModelReply = {
  reasoning: 'I need the weather.',
  content: 'Looking it up.',
  toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
};

function call(): RecordedCall {
  expect(calls).toHaveLength(1);
  return calls[0];
}

describe('a message', () => {
  it.each([{ stream: false }, { stream: true }])(
    'is recorded as the SDK got it (stream: $stream)',
    async ({ stream }) => {
      reply = WITH_TOOLS;
      const asked = { ...HELLO, system: 'Be brief.', tools: [TOOL], temperature: 0.5, top_k: 40 };
      const message = stream
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked);
      const [thinking] = message.content.filter((block) => block.type === 'thinking');
      const [text] = message.content.filter((block) => block.type === 'text');
      const [tool] = message.content.filter((block) => block.type === 'tool_use');
      const { usage } = message;
      expect(call()).toEqual({
        model: 'claude-test',
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
        tools: [TOOL],
        output: {
          role: 'assistant',
          content: text.text,
          reasoning_content: thinking.thinking,
          tool_calls: [
            {
              id: tool.id,
              type: 'function',
              function: { name: 'weather', arguments: JSON.stringify(tool.input) },
            },
          ],
        },
        otherOutputs: [],
        finishReason: message.stop_reason,
        usage: {
          inputTokens: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
          cachedInputTokens: usage.cache_read_input_tokens,
          outputTokens: usage.output_tokens,
        },
        sampling: { temperature: 0.5, topK: 40, maxNewTokens: 90 },
        tokens: null,
        weightVersion: null,
        responseId: message.id,
        error: null,
        isCut: false,
      });
      expect(message.stop_reason).toBe('tool_use');
    },
  );

  it('that HTTP refuses is recorded with its error and without an output', async () => {
    reply = { status: 529, content: 'Overloaded' };
    await expect(anthropic.messages.create(HELLO)).rejects.toThrow('Overloaded');
    expect(call()).toMatchObject({
      error: { status: 529, message: 'Overloaded' },
      output: null,
      usage: null,
    });
  });

  it('whose stream breaks is recorded as far as it came, as cut', async () => {
    reply = { content: 'one two three four five six seven eight', breaks: true };
    let text = '';
    const stream = anthropic.messages.stream(HELLO).on('text', (delta) => (text += delta));
    await expect(stream.finalMessage()).rejects.toThrow();
    expect(text).not.toBe('');
    expect(call()).toMatchObject({
      isCut: true,
      finishReason: null,
      output: { role: 'assistant', content: text },
    });
  });
});

describe('the conversation of a request', () => {
  function promptOf(
    body: Omit<Anthropic.MessageCreateParams, 'model' | 'max_tokens'>,
  ): RecordedCall['prompt'] {
    return MESSAGES.open(JSON.parse(JSON.stringify(body)) as never, knownDefaults('anthropic')).prompt;
  }

  it('continues with the answer as it was recorded, and with results of tools as messages of their own', async () => {
    reply = WITH_TOOLS;
    const message = await anthropic.messages.create({ ...HELLO, tools: [TOOL] });
    const [tool] = message.content.filter((block) => block.type === 'tool_use');
    const prompt = promptOf({
      messages: [
        ...HELLO.messages,
        { role: 'assistant', content: message.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: tool.id,
              content: [
                { type: 'text', text: '-7 degrees' },
                { type: 'image', source: { type: 'url', url: 'https://weather.test/oslo.png' } },
              ],
            },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'failed', is_error: true },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    });
    expect(prompt).toEqual([
      { role: 'user', content: 'Hello' },
      calls[0].output,
      {
        role: 'tool',
        content: [
          { type: 'text', text: '-7 degrees' },
          { type: 'image_url', image_url: { url: 'https://weather.test/oslo.png' } },
        ],
        tool_call_id: tool.id,
      },
      { role: 'tool', content: 'failed', tool_call_id: 'toolu_2' },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('holds texts of blocks as one text, images by reference, and names what else it leaves out', () => {
    const data = 'A'.repeat(9_000);
    expect(
      promptOf({
        system: [
          { type: 'text', text: 'Be brief. ', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Be kind.' },
        ],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data } },
            ],
          },
          { role: 'assistant', content: [{ type: 'redacted_thinking', data }] },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'Be brief. Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
          { type: 'text', text: '[image/png, 9022 characters inline: not recorded]' },
          { type: 'text', text: expect.stringMatching(/^\[document, \d+ characters inline: not/) as string },
        ],
      },
      { role: 'assistant', content: null },
    ]);
  });

  it('is empty when the request makes no sense', () => {
    expect(promptOf({ messages: 7 as never })).toEqual([]);
  });
});

describe('events of a stream', () => {
  function read(events: readonly object[]): RecordedCall {
    const reader = MESSAGES.open({ messages: [], stream: true }, knownDefaults('anthropic')).reader();
    for (const event of events) reader.add({ event: null, data: JSON.stringify(event) });
    reader.add({ event: null, data: 'no JSON' });
    return reader.finish(true);
  }
  const usage = {
    input_tokens: 5,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 100,
    output_tokens: 1,
  };
  const begun = {
    type: 'message_start',
    message: { id: 'msg_9', type: 'message', role: 'assistant', content: [], model: 'claude-test', usage },
  };
  const stopped = { type: 'message_stop' };

  it('count tokens that the cache gave and took in as a part of the input, and the last totals of the output', () => {
    const told = { output_tokens: 12, input_tokens: null };
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: told };
    expect(read([begun, delta, stopped])).toMatchObject({
      usage: { inputTokens: 125, cachedInputTokens: 100, outputTokens: 12 },
      output: { role: 'assistant', content: null },
      isCut: false,
    });
  });

  it('that fail give the error and what came before it', () => {
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(read([begun, start, delta, error])).toMatchObject({
      error: { status: 200, message: 'Overloaded' },
      output: { content: 'Half' },
      isCut: false,
    });
  });

  it('give the arguments of a tool exactly as the model wrote them, and {} where it wrote none', () => {
    const tool = (index: number, id: string) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id, name: 'weather', input: {} },
    });
    const json = (partial_json: string) => ({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json },
    });
    const events = [begun, tool(0, 'a'), tool(1, 'b'), json('{"city":'), json(' "Oslo"}'), stopped];
    expect(read(events).output?.tool_calls?.map(({ function: called }) => called.arguments)).toEqual([
      '{}',
      '{"city": "Oslo"}',
    ]);
  });
});
