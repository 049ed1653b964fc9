import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, Runner, setTracingDisabled, tool as agentsTool } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import {
  startOpenAiServer,
  type ModelReply,
  type ModelRequest,
  type OpenAiServer,
} from '@retrace/openai-server';
import { startProxy } from '@retrace/gateway/proxy';
import type { Run } from '@retrace/client';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RecordedRuns, type StoredEpisode, type StoredMessage } from '../support/recorded-run.js';

/** Real agents of four frameworks, of which only the base URL is changed, through the proxy: what SQL shows is what they got back. */
let runs: RecordedRuns;
let model: OpenAiServer;
let vllm: OpenAiServer;
const warnings: string[] = [];

beforeAll(async () => {
  model = await startOpenAiServer(answer);
  vllm = await startOpenAiServer(answer, { engine: 'vllm' });
  runs = await RecordedRuns.open();
  setTracingDisabled(true);
});

afterAll(async () => {
  await runs?.close();
  await model?.close();
  await vllm?.close();
});

const QUESTION = 'Weather in Oslo and Rome?';
const city = z.object({ city: z.string() });

function answer({ question, toolResults, toolNames }: ModelRequest): ModelReply {
  if (question.includes('Ask the expert') && toolResults.length === 0 && toolNames.includes('ask_expert')) {
    const given = { input: 'sub-question' };
    return { content: 'Let me ask.', toolCalls: [{ name: 'ask_expert', arguments: given }] };
  }
  if (toolNames.includes('weather') && toolResults.length === 0) {
    const cities = ['Oslo', 'Rome'].map((name) => ({ name: 'weather', arguments: { city: name } }));
    return { reasoning: 'I need both.', content: 'Looking.', toolCalls: cities };
  }
  return { content: `I know: ${toolResults.join(' and ')}.` };
}

const weatherIn = ({ city: name }: { city: string }) => `7 degrees in ${name}`;

interface Proxied<Result> {
  readonly run: Run;
  readonly result: Result;
  readonly episodes: readonly StoredEpisode[];
}

/** Runs an agent with a proxy of its own before the model server. @param act gets the proxy's address, without `/v1` */
async function through<Result>(
  upstream: OpenAiServer,
  act: (url: string) => Promise<Result>,
): Promise<Proxied<Result>> {
  const run = await runs.start({ name: 'proxied' });
  expect(await runs.retrace.flush()).toBe(true);
  const stateDirectory = await mkdtemp(join(tmpdir(), 'retrace-proxied-'));
  const proxy = await startProxy(
    {
      upstream: upstream.url,
      upstreamKind: upstream === vllm ? 'vllm' : 'openai',
      upstreamKey: null,
      upstreamTimeoutMs: 60_000,
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      retraceUrl: runs.api.api.url,
      retraceKey: null,
      run: run.id,
      stateDirectory,
      idleMs: 1_800_000,
      maxBodyBytes: 32 * 1024 ** 2,
      logprobMode: null,
    },
    { warn: (message) => warnings.push(message) },
  );
  try {
    const result = await act(proxy.url);
    await proxy.close();
    return { run, result, episodes: await runs.stored(run) };
  } finally {
    await rm(stateDirectory, { recursive: true, force: true });
  }
}

function callsOf(message: StoredMessage | null): unknown[] {
  return (message?.tool_calls ?? []).map(({ id, function: called }) => [
    id,
    called.name,
    JSON.parse(called.arguments) as unknown,
  ]);
}

/** Every message of an episode, by role and text. */
function conversationOf({ steps }: StoredEpisode): unknown[] {
  const messages = steps.flatMap(({ input, output }) => (output ? [...input, output] : [...input]));
  return messages.map(({ role, content }) => [role, content ?? '']);
}

describe('agents of the Vercel AI SDK through the proxy', () => {
  const weather = tool({ description: 'The weather', inputSchema: city, execute: weatherIn });
  const asked = { prompt: QUESTION, tools: { weather }, stopWhen: stepCountIs(5), temperature: 0.5 };

  it('are stored as generateText returned them', async () => {
    const { result, episodes } = await through(model, (url) => {
      const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
      return generateText({ ...asked, model: openai.chat('gpt-test'), instructions: 'Be brief.' });
    });
    expect(episodes).toHaveLength(1);
    const [{ steps }] = episodes;
    expect(steps).toHaveLength(result.steps.length);
    for (const [i, step] of result.steps.entries()) {
      expect(steps[i]).toMatchObject({
        model: 'gpt-test',
        inputTokens: step.usage.inputTokens,
        outputTokens: step.usage.outputTokens,
        temperature: 0.5,
      });
      expect(steps[i].output?.content).toBe(step.text);
      expect(callsOf(steps[i].output)).toEqual(
        step.toolCalls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]),
      );
    }
    expect(steps[0].input.map(({ content }) => content)).toEqual(['Be brief.', QUESTION]);
    expect(steps[1].input.map(({ role, content }) => [role, content])).toEqual([
      ['tool', '7 degrees in Oslo'],
      ['tool', '7 degrees in Rome'],
    ]);
  });

  it('are stored the same when they stream over the Responses API, which names items by reference', async () => {
    const { result, episodes } = await through(model, async (url) => {
      const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
      const stream = streamText({ ...asked, model: openai('gpt-test') });
      await stream.consumeStream();
      return stream.steps;
    });
    expect(model.requests.at(-1)?.input).toContainEqual(expect.objectContaining({ type: 'item_reference' }));
    expect(episodes).toHaveLength(1);
    const [{ steps }] = episodes;
    expect(steps.map(({ output, inputTokens }) => [output?.content, inputTokens])).toEqual(
      result.map(({ text, usage }) => [text, usage.inputTokens]),
    );
    expect(steps[0].output?.reasoning_content).toBe('I need both.');
    expect(steps[1].input.map(({ role }) => role)).toEqual(['tool', 'tool']);
  });
});

describe('agents of the OpenAI Agents SDK through the proxy', () => {
  const weather = agentsTool({
    name: 'weather',
    description: 'The weather',
    parameters: city,
    execute: weatherIn,
  });
  const forecaster = () =>
    new Agent({
      name: 'Forecaster',
      instructions: 'Be brief.',
      model: 'gpt-test',
      tools: [weather],
      modelSettings: { temperature: 0.5 },
    });
  const runnerOf = (baseURL: string, useResponses: boolean) => {
    const openAIClient = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
    return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
  };

  it.each([
    { api: 'responses', useResponses: true, stream: false },
    { api: 'responses, streamed', useResponses: true, stream: true },
    { api: 'chat', useResponses: false, stream: false },
    { api: 'chat, streamed', useResponses: false, stream: true },
  ])('are stored as the run result tells them ($api)', async ({ useResponses, stream }) => {
    const { result, episodes } = await through(model, async (url) => {
      const runner = runnerOf(`${url}/v1`, useResponses);
      if (!stream) return runner.run(forecaster(), QUESTION);
      const streamed = await runner.run(forecaster(), QUESTION, { stream: true });
      await streamed.completed;
      return streamed;
    });
    expect(episodes).toHaveLength(1);
    const [{ steps }] = episodes;
    expect(steps.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual(
      result.rawResponses.map(({ usage }) => [usage.inputTokens, usage.outputTokens]),
    );
    expect(steps[1].output?.content).toBe(result.finalOutput);
    const calls = result.history.filter((item) => item.type === 'function_call');
    expect(callsOf(steps[0].output)).toEqual(
      calls.map(({ callId, name, arguments: given }) => [callId, name, JSON.parse(given) as unknown]),
    );
    const results = result.history.filter((item) => item.type === 'function_call_result');
    expect(steps[1].input.map(({ role, tool_call_id, content }) => [role, tool_call_id, content])).toEqual(
      results.map(({ callId, output }) => ['tool', callId, (output as { text: string }).text]),
    );
    expect(steps[0].input.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', QUESTION],
    ]);
  });

  it('are one episode when the server holds the conversation', async () => {
    const { result, episodes } = await through(model, async (url) => {
      const runner = runnerOf(`${url}/v1`, true);
      const first = await runner.run(forecaster(), QUESTION);
      const previousResponseId = first.lastResponseId;
      return [first, await runner.run(forecaster(), 'And tomorrow?', { previousResponseId })];
    });
    expect(model.requests.slice(-2).map(({ input }) => input.length)).toEqual([1, 2]);
    expect(episodes).toHaveLength(1);
    const looked = [
      ['assistant', 'Looking.'],
      ['tool', '7 degrees in Oslo'],
      ['tool', '7 degrees in Rome'],
    ];
    expect(conversationOf(episodes[0])).toEqual([
      ['system', 'Be brief.'],
      ['user', QUESTION],
      ...looked,
      ['assistant', result[0].finalOutput],
      ['user', 'And tomorrow?'],
      ...looked,
      ['assistant', result[1].finalOutput],
    ]);
  });

  it('name the caller when they have a name of their own in the address', async () => {
    const { episodes } = await through(model, (url) => {
      const runner = runnerOf(`${url}/e/trip-17/v1`, true);
      const expert = new Agent({ name: 'Expert', instructions: 'Know.', model: 'sub' });
      const { modelProvider } = runner.config;
      const ask_expert = expert.asTool({
        toolName: 'ask_expert',
        toolDescription: 'An expert',
        runConfig: { modelProvider },
      });
      const chief = new Agent({
        name: 'Chief',
        instructions: 'Ask.',
        model: 'gpt-test',
        tools: [ask_expert],
      });
      return runner.run(chief, 'Ask the expert');
    });
    expect(episodes).toHaveLength(2);
    const outer = episodes.find(({ parent }) => parent === null)!;
    const inner = episodes.find(({ parent }) => parent !== null)!;
    expect(inner.parent).toBe(outer.id);
    expect([outer.id, outer.externalId]).toContain('trip-17');
    expect(outer.steps[1].input[0].content).toBe(inner.steps[0].output?.content);
  });
});

describe('agents of LangGraph through the proxy', () => {
  const weather = langChainTool((given) => weatherIn(given), {
    name: 'weather',
    description: 'The weather',
    schema: city,
  });
  const agentOf = (url: string, useResponsesApi: boolean) => {
    const configuration = { baseURL: `${url}/v1` };
    const llm = new ChatOpenAI({
      ...{ model: 'gpt-test', apiKey: 'none', temperature: 0.5, maxRetries: 0 },
      ...{ configuration, useResponsesApi },
    });
    return createReactAgent({ llm, tools: [weather], prompt: 'Be brief.' });
  };
  const asking = { messages: [new HumanMessage(QUESTION)] };

  it.each([
    { api: 'chat', useResponsesApi: false },
    { api: 'responses', useResponsesApi: true },
  ])('are stored as their messages tell them ($api)', async ({ useResponsesApi }) => {
    const { result, episodes } = await through(
      model,
      (url) => agentOf(url, useResponsesApi).invoke(asking) as Promise<{ messages: BaseMessage[] }>,
    );
    expect(episodes).toHaveLength(1);
    expect(conversationOf(episodes[0])).toEqual([
      ['system', 'Be brief.'],
      ...result.messages.map((message) => [roleOf(message), message.text]),
    ]);
  });

  it("are stored with the engine's tokens, each step's prompt keeping the whole context, and the client sees none of it", async () => {
    const asked = vllm.requests.length;
    const { run, result, episodes } = await through(
      vllm,
      (url) => agentOf(url, false).invoke(asking) as Promise<{ messages: BaseMessage[] }>,
    );
    expect(JSON.stringify(result.messages)).not.toMatch(/token_ids|"logprob"/);
    expect(vllm.requests.slice(asked).map(({ body }) => body.return_token_ids)).toEqual([true, true]);
    expect(episodes).toHaveLength(1);
    const steps = (await runs.retrace.rows(
      'SELECT token_ids, action_mask, token_logprobs, kept_prefix_tokens, input_tokens, output_tokens, logprob_mode, untrainable ' +
        `FROM steps WHERE run_id = '${run.id}' ORDER BY step`,
    )) as unknown as readonly TokenRow[];
    let context: number[] = [];
    for (const step of steps) {
      expect(step.kept_prefix_tokens).toBe(context.length);
      context = [...context, ...step.token_ids];
      const sampled = step.token_logprobs.filter((_, i) => step.action_mask[i] === 1);
      expect(sampled).toHaveLength(step.output_tokens);
      expect(context).toHaveLength(step.input_tokens + step.output_tokens);
      expect(sampled.every((logprob) => logprob < 0)).toBe(true);
      expect(step).toMatchObject({ logprob_mode: 'raw' });
    }
    expect(steps).toHaveLength(2);
  });
});

interface TokenRow {
  readonly token_ids: readonly number[];
  readonly action_mask: readonly number[];
  readonly token_logprobs: readonly number[];
  readonly kept_prefix_tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

function roleOf(message: BaseMessage): string {
  return { human: 'user', ai: 'assistant', tool: 'tool' }[message.getType() as string] ?? '';
}

describe("agents of Anthropic's SDK through the proxy", () => {
  const tools: Anthropic.Tool[] = [
    { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  ];

  async function converse(anthropic: Anthropic, stream: boolean): Promise<Anthropic.Message[]> {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
    const answers: Anthropic.Message[] = [];
    do {
      const asked = { model: 'claude-test', max_tokens: 100, system: 'Be brief.', tools, messages };
      const told = stream
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked);
      answers.push(told);
      messages.push({ role: 'assistant', content: told.content });
      const calls = told.content.filter((block) => block.type === 'tool_use');
      messages.push({
        role: 'user',
        content: calls.map(({ id, input }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: weatherIn(input as { city: string }),
        })),
      });
    } while (answers.at(-1)?.stop_reason === 'tool_use');
    return answers;
  }

  it.each([{ stream: false }, { stream: true }])(
    'are stored as the SDK told it (stream: $stream)',
    async ({ stream }) => {
      const { result, episodes } = await through(model, (url) =>
        converse(new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 }), stream),
      );
      expect(episodes).toHaveLength(1);
      const [{ steps }] = episodes;
      expect(steps).toHaveLength(2);
      for (const [i, { content, usage, stop_reason }] of result.entries()) {
        const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
        expect(steps[i].output?.content).toBe(texts.join(''));
        expect(callsOf(steps[i].output)).toEqual(
          content.flatMap((block) =>
            block.type === 'tool_use' ? [[block.id, block.name, block.input]] : [],
          ),
        );
        expect(steps[i]).toMatchObject({
          model: 'claude-test',
          inputTokens: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
          outputTokens: usage.output_tokens,
          info: { finishReason: stop_reason },
        });
      }
      expect(steps[0].output?.reasoning_content).toBe('I need both.');
      expect(steps[1].input.map(({ role, content }) => [role, content])).toEqual([
        ['tool', '7 degrees in Oslo'],
        ['tool', '7 degrees in Rome'],
      ]);
    },
  );

  it('get the error of the model, and a retry is the next step of the same conversation', async () => {
    let numFailures = 1;
    const failing = await startOpenAiServer((request) =>
      numFailures-- > 0 ? { status: 529, content: 'Overloaded' } : answer(request),
    );
    const { result, episodes } = await through(failing, (url) =>
      converse(new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 1 }), false),
    );
    await failing.close();
    expect(result).toHaveLength(2);
    expect(episodes).toHaveLength(1);
    const [{ steps }] = episodes;
    expect(steps.map(({ untrainable }) => untrainable !== '')).toEqual([true, true, true]);
    expect(steps[0]).toMatchObject({ output: null, info: { error: { status: 529, message: 'Overloaded' } } });
    expect(steps[1]).toMatchObject({ input: [], output: { content: 'Looking.' } });
  });
});

describe('the proxies', () => {
  it('had nothing to warn of', () => {
    expect(warnings).toEqual([]);
    expect(runs.errors).toEqual([]);
  });
});
