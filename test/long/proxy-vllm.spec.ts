import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProxy, type RunningProxy } from '@retrace/gateway/proxy';
import type { Run } from '@retrace/client';
import { loadPolicyText } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordedRuns } from '../support/recorded-run.js';
import { startVllm } from '../support/vllm-server.mjs';

const UNLIKE = ['id', 'item_id', 'created', 'created_at', 'system_fingerprint'];

type Body = Readonly<Record<string, unknown>>;

interface Logprobs {
  readonly content?: readonly { readonly logprob: number }[];
  readonly token_logprobs?: readonly number[];
}

/** Fields of vLLM's answers, and of their chunks, that this compares. */
interface Answer {
  readonly prompt_token_ids?: readonly number[];
  readonly choices: readonly {
    readonly text?: string;
    readonly message?: { readonly content: string };
    readonly token_ids?: readonly number[];
    readonly prompt_token_ids?: readonly number[];
    readonly logprobs?: Logprobs | null;
  }[];
}

interface StepRow {
  readonly token_ids: readonly number[];
  readonly action_mask: readonly number[];
  readonly token_logprobs: readonly number[];
  readonly kept_prefix_tokens: number;
  readonly tokenizer_hash: string;
  readonly untrainable: string;
}

interface Tokens {
  readonly promptIds: readonly number[];
  readonly sampledIds: readonly number[];
  readonly logprobs: readonly number[];
}

/** As Qwen's `generation_config.json` has it: what a request leaves out is sampled with these. */
const MODEL_DEFAULTS = { top_p: 0.8, top_k: 20, repetition_penalty: 1.05 };
const NEUTRAL = { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 };

const started = await startVllm({
  options: ['--override-generation-config', JSON.stringify(MODEL_DEFAULTS)],
});
const reason = 'unavailable' in started ? ` (skipped, because ${started.unavailable})` : '';

describe.skipIf(reason !== '')(`the proxy before a real vLLM${reason}`, () => {
  const vllm = 'url' in started ? started.url : '';
  let runs: RecordedRuns;
  let run: Run;
  let proxy: RunningProxy;
  /** Asks for neutral sampling where a request leaves it out. */
  let neutral: RunningProxy;
  const stateDirectories: string[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    runs = await RecordedRuns.open();
    run = await runs.start({ name: 'vllm' });
    expect(await runs.retrace.flush()).toBe(true);
    proxy = await openProxy({});
    neutral = await openProxy({ neutralSampling: true });
  });

  async function openProxy(more: { readonly neutralSampling?: boolean }): Promise<RunningProxy> {
    const stateDirectory = await mkdtemp(join(tmpdir(), 'retrace-proxy-'));
    stateDirectories.push(stateDirectory);
    const options = {
      upstreamKey: null,
      upstreamTimeoutMs: 60_000,
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
    };
    const limits = { idleMs: 1_800_000, maxBodyBytes: 32 * 1024 ** 2 };
    return startProxy(
      {
        ...{ ...options, ...limits, upstream: vllm, upstreamKind: null, run: run.id, stateDirectory },
        ...{ retraceUrl: runs.api.api.url, retraceKey: null, logprobMode: null, ...more },
      },
      {
        warn: (message) => warnings.push(message),
        openTokenizer: async (path) => {
          const { tokenizer } = await loadPolicyText(path, { useChatTemplate: false });
          return { hash: tokenizer.hash, encode: (text) => [...tokenizer.encode(text)] };
        },
      },
    );
  }

  afterAll(async () => {
    await proxy?.close();
    await neutral?.close();
    await runs?.close();
    if ('stop' in started) await started.stop();
    for (const each of stateDirectories) await rm(each, { recursive: true, force: true });
    expect(warnings).toEqual([]);
  });

  async function post(url: string, body: Body): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  }

  /**
   * Objects of an answer, without the ids and times that no two answers share, and the fingerprint: in a stream it comes with the usage,
   * which the proxy asks for and hides.
   */
  function objectsOf(text: string): unknown[] {
    const parts = text.startsWith('{')
      ? [text]
      : text.split('\n').flatMap((line) => (/^data: \{/.test(line) ? [line.slice(6)] : []));
    return parts.map((part) =>
      JSON.parse(part, (name, value: unknown) => (UNLIKE.includes(name) ? undefined : value)),
    ) as unknown[];
  }

  /**
   * The objects of an answer; of a stream the text of all, the first and the last, and the fields that the others have, since a busy vLLM puts several tokens into one chunk.
   */
  function wholeOf(text: string): unknown {
    const objects = objectsOf(text);
    if (text.startsWith('{')) return objects;
    const said = objects.map((object) => {
      const { choices, delta } = object as { choices?: Answer['choices']; delta?: unknown };
      const [{ text: piece, delta: chat } = {}] = (choices ?? []) as {
        text?: string;
        delta?: { content?: string };
      }[];
      return [delta, piece, chat?.content].find((each) => typeof each === 'string') ?? '';
    });
    return {
      text: said.join(''),
      ends: [objects[0], objects.at(-1)],
      fields: [
        ...new Set(
          objects.map((object) =>
            Object.keys(object as object)
              .sort()
              .join(' '),
          ),
        ),
      ],
    };
  }

  /** Steps of an episode by the name that the client gave it. */
  async function stepsOf(name: string, numSteps = 2): Promise<readonly StepRow[]> {
    const sql =
      'SELECT token_ids, action_mask, token_logprobs, kept_prefix_tokens, tokenizer_hash, untrainable FROM steps ' +
      `WHERE run_id = '${run.id}' AND episode_id IN (SELECT episode_id FROM episodes WHERE external_id = '${name}') ORDER BY step`;
    for (let i = 0; i < 100; i++) {
      await runs.api.storeHasCaughtUp();
      const rows = (await runs.retrace.rows(sql)) as unknown as readonly StepRow[];
      if (rows.length >= numSteps) return rows;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the steps of ${name} did not come`);
  }

  /** The step rows are vLLM's own tokens, and each prompt keeps as much of the context as it has in common with it. */
  function expectTokens(steps: readonly StepRow[], told: readonly Tokens[]): void {
    let context: readonly number[] = [];
    for (const [i, { promptIds, sampledIds, logprobs }] of told.entries()) {
      const { token_ids, action_mask, token_logprobs, kept_prefix_tokens } = steps[i];
      expect([...context.slice(0, kept_prefix_tokens), ...token_ids]).toEqual([...promptIds, ...sampledIds]);
      const extends_ = context.every((id, position) => promptIds[position] === id);
      if (extends_) expect(kept_prefix_tokens).toBe(context.length);
      expect(token_ids.filter((_, position) => action_mask[position] === 1)).toEqual(sampledIds);
      const recorded = token_logprobs.filter((_, position) => action_mask[position] === 1);
      // Float32, whose shortest text SQL gives.
      expect(recorded.map(Math.fround)).toEqual(logprobs.map(Math.fround));
      context = [...promptIds, ...sampledIds];
    }
  }

  function tokensOf(answers: readonly Answer[]): Tokens {
    const choices = answers.flatMap(({ choices: told }) => told);
    const [first] = answers;
    return {
      promptIds: first.prompt_token_ids ?? first.choices[0].prompt_token_ids ?? [],
      sampledIds: choices.flatMap(({ token_ids }) => token_ids ?? []),
      logprobs: choices.flatMap(
        ({ logprobs }) => logprobs?.token_logprobs ?? logprobs?.content?.map(({ logprob }) => logprob) ?? [],
      ),
    };
  }

  const SAMPLINGS = [
    { sampling: 'greedy', parameters: { temperature: 0 } },
    { sampling: 'at temperature 1 with a seed', parameters: { temperature: 1, seed: 7 } },
  ];
  const CASES = SAMPLINGS.flatMap((sampling) => [
    { ...sampling, stream: false },
    { ...sampling, stream: true },
  ]);

  it.each(CASES)(
    'records chat completions as vLLM made them, and shows them as if it had not (stream: $stream, $sampling)',
    async ({ stream, sampling, parameters }) => {
      const name = `chat-${stream ? 'stream' : 'whole'}-${sampling.split(' ')[0]}`;
      const messages: unknown[] = [{ role: 'user', content: 'Hello' }];
      const told: Tokens[] = [];
      for (const question of ['And?', '']) {
        const body = { model: 'tiny', messages, max_tokens: 8, stream, ...parameters };
        const plain = await post(`${vllm}/v1/chat/completions`, body);
        const shown = await post(`${proxy.url}/e/${name}/v1/chat/completions`, body);
        expect(wholeOf(shown)).toEqual(wholeOf(plain));
        const asked = { ...body, logprobs: true, return_token_ids: true };
        const answers = objectsOf(await post(`${vllm}/v1/chat/completions`, asked)) as Answer[];
        told.push(tokensOf(answers));
        const whole = objectsOf(await post(`${vllm}/v1/chat/completions`, { ...body, stream: false }));
        const content = (whole as Answer[])[0].choices[0].message?.content;
        messages.push({ role: 'assistant', content }, { role: 'user', content: question });
      }
      const steps = await stepsOf(name);
      expect(steps).toHaveLength(2);
      expectTokens(steps, told);
      if (sampling === 'greedy') {
        // Its best tokens are letters, which become the same tokens again.
        const before = told[0].promptIds.length + told[0].sampledIds.length;
        expect(steps[1].kept_prefix_tokens).toBe(before);
      }
    },
  );

  it('knows how tokens were sampled only where all of it was stated, and by which tokenizer', async () => {
    const body = { model: 'tiny', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 64, seed: 7 };
    const told = async (stated: Body) =>
      tokensOf(
        objectsOf(
          await post(`${vllm}/v1/chat/completions`, {
            ...{ ...body, ...stated, logprobs: true, return_token_ids: true },
          }),
        ) as Answer[],
      );
    const [ofModel, ofServer] = [await told(NEUTRAL), await told({ temperature: 1 })];
    expect(ofServer.sampledIds).not.toEqual(ofModel.sampledIds);
    for (const [name, through] of [
      ['left out', proxy],
      ['asked for', neutral],
    ] as const)
      await post(`${through.url}/e/${name.replace(' ', '-')}/v1/chat/completions`, {
        ...body,
        temperature: 1,
      });
    const [left] = await stepsOf('left-out', 1);
    expectTokens([left], [ofServer]);
    expect(left.untrainable).toContain('top_p, top_k, min_p, repetition_penalty left to the server');
    const [asked] = await stepsOf('asked-for', 1);
    expectTokens([asked], [ofModel]);
    expect(asked.untrainable).toBe('');
    const { tokenizer } = await loadPolicyText('model' in started ? started.model : '');
    expect([left.tokenizer_hash, asked.tokenizer_hash]).toEqual([tokenizer.hash, tokenizer.hash]);
  });

  it.each([{ stream: false }, { stream: true }])(
    'records completions as vLLM made them (stream: $stream)',
    async ({ stream }) => {
      const name = `completions-${stream ? 'stream' : 'whole'}`;
      let prompt = 'Once upon a time';
      const told: Tokens[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const body = { model: 'tiny', prompt, max_tokens: 8, stream, temperature: 0 };
        const plain = await post(`${vllm}/v1/completions`, body);
        const shown = await post(`${proxy.url}/e/${name}/v1/completions`, body);
        expect(wholeOf(shown)).toEqual(wholeOf(plain));
        const asked = { ...body, logprobs: 0, return_token_ids: true };
        const answers = objectsOf(await post(`${vllm}/v1/completions`, asked)) as Answer[];
        told.push(tokensOf(answers));
        prompt += answers.flatMap(({ choices }) => choices.map(({ text }) => text ?? '')).join('');
        prompt += ' and then';
      }
      const steps = await stepsOf(name);
      expectTokens(steps, told);
      expect(steps[1].kept_prefix_tokens).toBe(told[0].promptIds.length + told[0].sampledIds.length);
    },
  );

  it.each([{ stream: false }, { stream: true }])(
    'records responses with the tokens of vLLM (stream: $stream)',
    async ({ stream }) => {
      const name = `responses-${stream ? 'stream' : 'whole'}`;
      const input: unknown[] = [{ role: 'user', content: 'Hello' }];
      const told: Tokens[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const body = { model: 'tiny', input, max_output_tokens: 8, temperature: 0 };
        const plain = await post(`${vllm}/v1/responses`, { ...body, stream });
        const shown = await post(`${proxy.url}/e/${name}/v1/responses`, { ...body, stream });
        expect(wholeOf(shown)).toEqual(wholeOf(plain));
        const asked = { enable_response_messages: true, include: ['message.output_text.logprobs'] };
        const [answer] = objectsOf(
          await post(`${vllm}/v1/responses`, { ...body, ...asked }),
        ) as ResponseAnswer[];
        const [{ text, logprobs }] = answer.output[0].content;
        told.push({
          promptIds: answer.input_messages[0].tokens,
          sampledIds: answer.output_messages[0].tokens,
          logprobs: logprobs.map(({ logprob }) => logprob),
        });
        input.push({ role: 'assistant', content: text }, { role: 'user', content: 'And?' });
      }
      expectTokens(await stepsOf(name), told);
    },
  );
});

interface ResponseAnswer {
  readonly output: readonly {
    readonly content: readonly {
      readonly text: string;
      readonly logprobs: readonly { readonly logprob: number }[];
    }[];
  }[];
  readonly input_messages: readonly { readonly tokens: readonly number[] }[];
  readonly output_messages: readonly { readonly tokens: readonly number[] }[];
}
