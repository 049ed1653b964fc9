import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { findLogprobMode, openTokenEngine, ServiceClient } from '@retrace/endpoints';
import { evaluateLogprobs, Generator, Transformer } from '@retrace/policy';
import {
  openDirectorySupply,
  startServer,
  type PolicySupply,
  type RunningServer,
} from '@retrace/gateway/serve';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUESTION, TAUGHT_CONFIG, TOOLS, writeTaughtModel } from '../support/taught-model.js';

/** Clients that others wrote, against a server of a model that was taught to call a tool. */
let home: string;
let supply: SwappedSupply;
let server: RunningServer;
let openai: OpenAI;

/** A supply whose weights the test replaces. */
type SwappedSupply = PolicySupply & { swapTo: ((model: Transformer) => Promise<void>) | null };

beforeAll(async () => {
  await openBackend();
  home = await mkdtemp(join(tmpdir(), 'retrace-serve-'));
  const directory = await writeTaughtModel(home);
  const opened = await openDirectorySupply(directory, 'tiny');
  let version = 7;
  supply = Object.assign(Object.create(opened) as PolicySupply, {
    swapTo: null,
    refresh: async () => {
      const swap = supply.swapTo;
      if (swap === null) return false;
      supply.swapTo = null;
      await swap(opened.model);
      version++;
      return true;
    },
  }) as SwappedSupply;
  Object.defineProperty(supply, 'policyVersion', { get: () => version });
  server = await startServer(
    {
      ...{ host: '127.0.0.1', port: 0, allowedHosts: [], keyDirectory: null, concurrency: 16, maxQueued: 4 },
      ...{ contextLength: 256, maxBodyBytes: 1e6, logprobsMode: 'raw_logprobs' },
    },
    supply,
    { version: 'test', warn: (message) => warnings.push(message) },
  );
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});

const warnings: string[] = [];

afterAll(async () => {
  await server?.close();
  await rm(home, { recursive: true, force: true });
  expect(warnings).toEqual([]);
});

interface TokenChoice {
  readonly token_ids: number[];
  readonly logprobs: { readonly token_logprobs: number[] };
}

/** A completion with fields that the SDK does not know. */
async function complete(fields: object) {
  const body = { model: 'tiny', return_token_ids: true, logprobs: 0, ignore_eos: true, ...fields };
  const answer = await openai.completions.create(
    body as unknown as OpenAI.CompletionCreateParamsNonStreaming,
  );
  return answer.choices.map((choice) => choice as unknown as TokenChoice);
}

function generate(tokenIds: number[], samplingSeed: number, { greedy = false, maxNewTokens = 12 } = {}) {
  return async () => {
    const generator = new Generator(supply.model, { maxSlots: 1, maxTokens: 256, maxNewTokens: 64 });
    const sampling = { temperature: 1, greedy, maxNewTokens, stopTokenIds: [], samplingSeed };
    generator.add({ slot: 0, keptPrefixTokens: 0, tokenIds: Int32Array.from(tokenIds), ...sampling });
    let finished = await generator.step();
    while (finished.length === 0) finished = await generator.step();
    generator.dispose();
    return [...finished[0].tokenIds];
  };
}

/** All of an answer but the values of its logprobs; their keys stay. */
function withoutLogprobs(choice: TokenChoice): unknown {
  return JSON.parse(JSON.stringify(choice), (_, value: unknown) =>
    typeof value === 'number' && value <= 0 ? 'logprob' : value,
  );
}

describe('tokens of the server', () => {
  it('are those of the generator, greedy and sampled, whatever runs beside them, with the logprobs of our forward pass', async () => {
    const prompts = Array.from({ length: 16 }, (_, i) => [
      5 + i,
      9,
      40 + 3 * i,
      100 - i,
      ...(i % 2 ? [7, 8, 9] : []),
    ]);
    const together = await Promise.all(
      prompts.map((prompt, seed) =>
        complete({ prompt, seed, max_tokens: 12, temperature: seed % 3 ? 1 : 0 }),
      ),
    );
    for (const [seed, [choice]] of together.entries()) {
      const alone = await generate(prompts[seed], seed, { greedy: seed % 3 === 0 })();
      expect(choice.token_ids).toEqual(alone);
      const [again] = await complete({
        prompt: prompts[seed],
        seed,
        max_tokens: 12,
        temperature: seed % 3 ? 1 : 0,
      });
      expect(withoutLogprobs(again)).toEqual(withoutLogprobs(choice));
      const tokenIds = Int32Array.of(...prompts[seed], ...alone);
      const scored = await evaluateLogprobs(
        supply.model,
        { tokenIds, sequenceOffsets: Int32Array.of(0, tokenIds.length) },
        { temperature: 1, maxTokensPerMicroBatch: 512 },
      );
      // A pass over other rows beside it may round otherwise, in the last bits.
      for (const { logprobs } of [choice, again])
        logprobs.token_logprobs.forEach((logprob, n) => {
          expect(Math.abs(logprob - scored.logprobs[prompts[seed].length + n])).toBeLessThan(1e-5);
        });
    }
  });

  it('have the version of the weights that sampled them, when the weights change under 16 open streams', async () => {
    const other = Transformer.initialize(TAUGHT_CONFIG, 2);
    const tensors = await other.exportTensors();
    const former = await supply.model.exportTensors();
    const headers: string[] = [];
    const numSeen = Array.from({ length: 16 }, () => 0);
    const swap = () => {
      if (numSeen.every((count) => count >= 3))
        supply.swapTo ??= async (model) => model.assignTensors(tensors);
    };
    const streams = await Promise.all(
      numSeen.map(async (_, i) => {
        const body = { model: 'tiny', prompt: [11 + i, 12], max_tokens: 40, stream: true, seed: i };
        const { data, response } = await openai.completions
          .create({ ...body, ...{ return_token_ids: true, logprobs: 0, ignore_eos: true } } as never)
          .withResponse();
        headers.push(response.headers.get('x-retrace-policy-version') ?? '');
        const [tokens, versions, logprobs]: number[][] = [[], [], []];
        for await (const chunk of data as unknown as AsyncIterable<Record<string, unknown>>) {
          const [choice] = chunk.choices as [TokenChoice];
          tokens.push(...choice.token_ids);
          logprobs.push(...choice.logprobs.token_logprobs);
          versions.push(...choice.token_ids.map(() => chunk.policy_version as number));
          numSeen[i]++;
          if (versions.at(-1) === 7) swap();
        }
        return { prompt: [11 + i, 12], tokens, versions, logprobs };
      }),
    );
    const first = Transformer.initialize(TAUGHT_CONFIG, 3);
    first.assignTensors(former);
    expect(headers).toEqual(headers.map(() => '7'));
    for (const { prompt, tokens, versions, logprobs } of streams) {
      expect(tokens).toHaveLength(40);
      expect([...new Set(versions)]).toEqual([7, 8]);
      const batch = {
        tokenIds: Int32Array.of(...prompt, ...tokens),
        sequenceOffsets: Int32Array.of(0, prompt.length + tokens.length),
      };
      const options = { temperature: 1, maxTokensPerMicroBatch: 512 };
      const byVersion = {
        7: await evaluateLogprobs(first, batch, options),
        8: await evaluateLogprobs(other, batch, options),
      };
      logprobs.forEach((logprob, n) => {
        const scored = byVersion[versions[n] as 7 | 8].logprobs[prompt.length + n];
        expect(Math.abs(logprob - scored)).toBeLessThan(1e-4);
      });
    }
    supply.swapTo = async (model) => model.assignTensors(former);
    await complete({ prompt: [1], max_tokens: 1 });
    other.dispose();
    first.dispose();
  });

  it('serve our own client of vLLM, which finds raw logprobs by asking, and scores of a prompt', async () => {
    const service = new ServiceClient({ url: server.url, concurrency: 4 });
    const engine = openTokenEngine('vllm', service, { timeoutMs: 10_000, maxRetries: 0 });
    expect(await engine.describe()).toBe('vllm test');
    expect(await findLogprobMode(engine, 'tiny', [[5, 9, 40]])).toBe('raw');
    const prompt = [5, 9, 40, 41, 5];
    const { logprobs } = await evaluateLogprobs(
      supply.model,
      { tokenIds: Int32Array.from(prompt), sequenceOffsets: Int32Array.of(0, prompt.length) },
      { temperature: 1, maxTokensPerMicroBatch: 512 },
    );
    const { logprobs: scored } = await engine.score({ tokenIds: prompt, model: 'tiny' });
    expect(scored.length).toBe(prompt.length);
    scored.slice(1).forEach((logprob, n) => {
      expect(logprob).toBeCloseTo(logprobs[n + 1], 5);
    });
    const asked = { tokenIds: Int32Array.of(5, 9, 40), model: 'tiny', temperature: 1, topK: 0, topP: 1 };
    const generated = await engine.generate({
      ...{ ...asked, greedy: true, maxNewTokens: 12, stopTokenIds: [], stopStrings: [], seed: 0 },
    });
    expect([...generated.tokenIds]).toEqual(await generate([5, 9, 40], 0, { greedy: true })());
  });
});

describe("OpenAI's SDK", () => {
  const asked = { model: 'tiny', messages: [QUESTION], temperature: 0 };
  const tools = TOOLS as OpenAI.ChatCompletionTool[];

  it('gets a tool call, whole and in a stream', async () => {
    const whole = await openai.chat.completions.create({ ...asked, tools } as never);
    const { choices } = whole as unknown as OpenAI.ChatCompletion;
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = choices[0].message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    expect(call.function).toEqual({ name: 'weather', arguments: '{"city":"Oslo"}' });
    const stream = openai.chat.completions.stream({
      ...asked,
      tools,
      stream_options: { include_usage: true },
    } as never);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: call.function }] },
    });
    expect(final.usage).toMatchObject((whole as unknown as OpenAI.ChatCompletion).usage as object);
  });

  it('gets the same text in a stream as whole, cut at a stop string, and different choices', async () => {
    const sampled = { ...asked, temperature: 1, seed: 5, n: 3, max_completion_tokens: 40, stop: ['e', '</'] };
    const whole = await openai.chat.completions.create({
      ...sampled,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const texts = ['', '', ''];
    const stream = await openai.chat.completions.create({
      ...{ ...sampled, messages: [{ role: 'user', content: 'Hi' }], stream: true },
    });
    for await (const { choices } of stream)
      for (const { index, delta } of choices) texts[index] += delta.content ?? '';
    expect(texts).toEqual(whole.choices.map(({ message }) => message.content));
    expect(new Set(texts).size).toBe(3);
    for (const each of texts) expect(each).not.toContain('e');
  });

  it('gets logprobs of the likeliest tokens', async () => {
    const { choices } = await openai.chat.completions.create({
      ...asked,
      logprobs: true,
      top_logprobs: 3,
      max_tokens: 4,
    });
    const content = choices[0].logprobs?.content ?? [];
    expect(content.length).toBeGreaterThan(0);
    for (const { token, logprob, top_logprobs } of content) {
      expect(top_logprobs).toHaveLength(3);
      expect(top_logprobs[0].token).toBe(token);
      expect(top_logprobs[0].logprob).toBeCloseTo(logprob, 5);
      expect(top_logprobs[1].logprob).toBeLessThanOrEqual(logprob);
    }
  });

  it.each([
    [{ presence_penalty: 0.5 }, 400, '"presence_penalty" is 0.5; this server supports only 0'],
    [{ logit_bias: { 5: 1 } }, 400, '"logit_bias" is {"5":1}'],
    [{ max_tokens: 300 }, 400, 'The context length is 256 tokens; the request has '],
    [{ temprature: 1 }, 400, 'Unknown parameter "temprature"'],
    [{ prompt_logprobs: 0 }, 400, '"prompt_logprobs" is 0; this server supports none'],
    [{ tool_choice: 'required' }, 400, '"tool_choice" is "required"'],
    [{ top_p: 2 }, 400, '"top_p" is 2; it must be a number from 0 to 1'],
    [{ n: 21 }, 400, 'The request asks for 21 answers; this server takes at most 20 at one time'],
    [{ model: 'other' }, 404, 'The model "other" does not exist; this server has "tiny"'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      400,
      'other contents are not supported',
    ],
  ])('is told what is wrong with %j', async (fields, status, message) => {
    const refused = await openai.chat.completions
      .create({ ...asked, ...fields } as never)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.APIError);
    expect(refused).toMatchObject({ status });
    expect((refused as Error).message).toContain(message);
  });

  it('is refused when too many answers wait, and a client that goes away frees its slot', async () => {
    const leaving = new AbortController();
    const long = { model: 'tiny', prompt: [1, 2], max_tokens: 250, ignore_eos: true, n: 16 };
    const streaming = await openai.completions.create({ ...long, stream: true } as never, {
      signal: leaving.signal,
    });
    const waiting = openai.completions.create({ ...long, max_tokens: 2, n: 4 } as never);
    await expect.poll(async () => metric('waiting_answers')).toBe(4);
    await expect(openai.completions.create({ ...long, n: 1 } as never)).rejects.toMatchObject({
      status: 429,
    });
    leaving.abort();
    const { choices } = (await waiting) as unknown as OpenAI.Completion;
    expect(choices).toHaveLength(4);
    expect(await metric('running_answers')).toBe(0);
    expect(streaming).toBeDefined();
  });

  async function metric(name: string): Promise<number> {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^retrace_serve_${name} (.*)$`, 'm').exec(metrics)?.[1]);
  }
});
