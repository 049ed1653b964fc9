import { getEnvironment } from '@retrace/environments';
import { startOpenAiServer, type ModelReply, type OpenAiServer } from '@retrace/openai-server';
import type { ChatMessage } from '@retrace/policy';
import { afterEach, describe, expect, it } from 'vitest';
import type { FinishedAct } from '../turn/actor.js';
import { TEXT_ONLY } from './chat-endpoint-actor.js';
import { openChatEndpoint, type ChatEndpoint, type ChatEndpointOptions } from './open-chat-endpoint.js';

let server: OpenAiServer;
afterEach(() => server.close());

async function open(
  options: Partial<ChatEndpointOptions>,
  reply: (n: number) => ModelReply = () => ({ content: 'go left' }),
): Promise<ChatEndpoint> {
  let n = 0;
  server = await startOpenAiServer(() => reply(n++));
  const url = options.kind === 'anthropic' ? server.url.replace('/v1', '') : server.url;
  const { signal } = new AbortController();
  return openChatEndpoint({ kind: 'openai', url, model: 'm', variables: {}, signal, ...options });
}

function ask({ actor, text }: ChatEndpoint, messages: readonly ChatMessage[], slot = 0): void {
  const observation = { text: messages.at(-1)?.content ?? '', anchor: null, legalActions: null };
  actor.request({
    slot,
    environment: getEnvironment('frozen-lake').create(),
    observation,
    prompt: { observation, tokenIds: text.tokenizer.encode(observation.text), keptPrefixTokens: 0 },
    messages,
    purpose: null,
    samplingSeed: 1,
    greedy: false,
  });
}

async function turnOf({ actor }: ChatEndpoint) {
  const [act] = (await actor.step()) as [FinishedAct];
  if ('failure' in act) throw new Error(act.failure.reason);
  return act.turn;
}

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const TOOLS = [
  {
    name: 'go',
    description: 'walks',
    parameters: { type: 'object', properties: { to: { type: 'string' } } },
  },
];

describe.each(['openai', 'anthropic'] as const)('openChatEndpoint, kind %s', (kind) => {
  it('gives turns that no policy gradient trains on, with the reason and the counts of the server', async () => {
    const endpoint = await open({ kind });
    ask(endpoint, [user('where to')]);
    const turn = await turnOf(endpoint);
    const { tokenizer } = endpoint.text;
    expect([...turn.tokenIds]).toEqual([...tokenizer.encode('go left'), tokenizer.endOfTurnTokenId]);
    expect(turn).toMatchObject({
      action: 'go left',
      logprobMode: 'none',
      rawLogprobs: null,
      untrainable: TEXT_ONLY,
    });
    expect(turn.logprobs.every(Number.isNaN)).toBe(true);
    expect(new Set(turn.policyVersions)).toEqual(new Set([-1]));
    expect(turn.usage).toMatchObject({ outputTokens: 2, costUsd: null });
    expect(turn.usage?.inputTokens).toBeGreaterThan(0);
  });

  it('sends the conversation, and gives the message that answers it', async () => {
    const endpoint = await open({ kind }, (n) => ({ content: `answer ${n}` }));
    const start = [{ role: 'system', content: 'You walk.' } as const, user('one')];
    ask(endpoint, start);
    expect((await turnOf(endpoint)).output).toEqual(assistant('answer 0'));
    ask(endpoint, [...start, assistant('answer 0'), user('two')]);
    expect((await turnOf(endpoint)).output).toEqual(assistant('answer 1'));
    expect(server.requests[1].input).toEqual([...start, assistant('answer 0'), user('two')]);
  });

  it('sends temperature, top-p, longest answer and stop texts under the names of the API', async () => {
    const sampling = { temperature: 0.3, topP: 0.9, maxNewTokens: 17, stopStrings: ['\n'] };
    const endpoint = await open({ kind, ...sampling });
    ask(endpoint, [user('x')]);
    await turnOf(endpoint);
    expect(server.requests[0].body).toMatchObject({
      ...{ model: 'm', temperature: 0.3, top_p: 0.9, max_tokens: 17 },
      [kind === 'openai' ? 'stop' : 'stop_sequences']: ['\n'],
    });
  });

  it('has no end-of-turn token where the answer was cut at its longest', async () => {
    const endpoint = await open({ kind }, () => ({ content: 'go le', finishReason: 'length' }));
    ask(endpoint, [user('x')]);
    const turn = await turnOf(endpoint);
    expect([...turn.tokenIds]).toEqual([...endpoint.text.tokenizer.encode('go le')]);
  });

  it('offers tools, and writes a call of one into the action', async () => {
    const endpoint = await open({ kind, tools: TOOLS }, () => ({
      content: 'So:',
      toolCalls: [{ id: 'call_1', name: 'go', arguments: { to: 'den' } }],
    }));
    ask(endpoint, [user('x')]);
    const turn = await turnOf(endpoint);
    expect(server.requests[0].toolNames).toEqual(['go']);
    expect(turn.action).toBe('So:\n<tool_call>\n{"name": "go", "arguments": {"to":"den"}}\n</tool_call>');
    const id = kind === 'openai' ? 'call_1' : 'toolu_1';
    const called = { id, type: 'function', function: { name: 'go', arguments: '{"to":"den"}' } };
    expect(turn.output).toMatchObject({ content: 'So:', tool_calls: [called] });
  });

  it('sends the API key of the variable that is named', async () => {
    const endpoint = await open({ kind, apiKeyVariable: 'KEY', variables: { KEY: 'secret' } });
    ask(endpoint, [user('x')]);
    await turnOf(endpoint);
    const { headers } = server.requests[0];
    expect(kind === 'openai' ? headers.authorization : headers['x-api-key']).toMatch(/^(Bearer )?secret$/);
  });

  it('reports an answer that the server refuses, in its words', async () => {
    const endpoint = await open({ kind }, () => ({ status: 400, content: 'context too long' }));
    ask(endpoint, [user('x')]);
    const [act] = await endpoint.actor.step();
    const reason = expect.stringMatching(/^HTTP 400: .*context too long/) as string;
    expect(act).toMatchObject({ failure: { of: 'model', reason } });
  });
});

describe('openChatEndpoint', () => {
  it('asks again with max_completion_tokens where a model refuses max_tokens, and keeps to it', async () => {
    const refusal =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const endpoint = await open({}, (n) => (n === 0 ? { status: 400, content: refusal } : { content: 'ok' }));
    for (const text of ['one', 'two']) {
      ask(endpoint, [user(text)]);
      await turnOf(endpoint);
    }
    const fields = server.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
    expect(fields).toEqual([
      [512, undefined],
      [undefined, 512],
      [undefined, 512],
    ]);
  });

  it.each([
    [{ temperature: 2.5 }, 'temperature: got 2.5, must be from 0 to 2 where kind is "openai"'],
    [
      { kind: 'anthropic', temperature: 1.2 },
      'temperature: got 1.2, must be from 0 to 1 where kind is "anthropic"',
    ],
    [{ topP: 0 }, 'topP: got 0, must be above 0 and at most 1'],
    [{ apiKeyVariable: 'NONE' }, 'apiKeyVariable: NONE is not set in the environment'],
  ] as const)('refuses %o', async (options, message) => {
    await expect(open(options)).rejects.toThrow(message);
  });
});
