import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  Agent,
  MCPServerStreamableHttp,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  tool as agentsTool,
} from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { recordAiSdk } from '@retrace/client/ai-sdk';
import { recordLangChain } from '@retrace/client/langchain';
import { recordOpenAiAgents } from '@retrace/client/openai-agents';
import {
  startOpenAiServer,
  type ModelReply,
  type ModelRequest,
  type OpenAiServer,
} from '@retrace/openai-server';
import type { Episode, Run } from '@retrace/client';
import { generateText, stepCountIs, streamText, tool, type ModelMessage, type Telemetry } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startWeatherServer, weatherServer } from './support/mcp-server.js';
import { RecordedRuns, type StoredMessage, type StoredStep } from '../support/recorded-run.js';

/** Real agents of three frameworks, unmodified, against a model on loopback: what SQL shows is compared with what they logged. */
let runs: RecordedRuns;
let model: OpenAiServer;

beforeAll(async () => {
  model = await startOpenAiServer(answer);
  runs = await RecordedRuns.open();
});

afterAll(async () => {
  await runs?.close();
  await model?.close();
});

const QUESTION = 'Weather in Oslo and Rome?';
const city = z.object({ city: z.string() });
const question = z.object({ question: z.string() });

/** The model: asks for the weather of two cities, for an expert or for a handoff, and answers with the results of its tools. */
function answer({ question: asked, toolResults, toolNames }: ModelRequest): ModelReply {
  if (asked.includes('refuse')) return { status: 400, content: 'the model refuses' };
  if (asked.includes('expert') && toolResults.length === 0 && toolNames.includes('ask_expert')) {
    const given = { question: 'sub-question', input: 'sub-question' };
    return { content: 'Let me ask.', toolCalls: [{ name: 'ask_expert', arguments: given }] };
  }
  if (asked.includes('refund') && toolNames.includes('transfer_to_Refunds')) {
    return { toolCalls: [{ name: 'transfer_to_Refunds', arguments: {} }] };
  }
  if (toolNames.includes('weather') && toolResults.length === 0) {
    const cities = ['Oslo', 'Rome'].map((name) => ({ name: 'weather', arguments: { city: name } }));
    return { reasoning: 'I need both.', content: 'Looking.', toolCalls: cities };
  }
  return { content: `I know: ${toolResults.join(' and ')}.` };
}

function weatherIn({ city: name }: { city: string }): string {
  if (name === 'Rome') throw new Error('no data for Rome');
  return `7 degrees in ${name}`;
}

/** Every message of an episode in order: what the agent saw and said. */
function conversationOf(steps: readonly StoredStep[]): StoredMessage[] {
  return steps.flatMap(({ input, output }) => (output ? [...input, output] : [...input]));
}

function callsOf(message: StoredMessage | null): unknown[] {
  return (message?.tool_calls ?? []).map(({ id, function: called }) => [
    id,
    called.name,
    JSON.parse(called.arguments) as unknown,
  ]);
}

describe('agents of the Vercel AI SDK', () => {
  const rewarded: Episode[] = [];

  async function recorded(): Promise<{
    run: Run;
    telemetry: { integrations: Telemetry[]; functionId: string };
  }> {
    const run = await runs.start({ name: 'ai-sdk' });
    const recorder: Telemetry = recordAiSdk(run, { onEpisode: (episode) => rewarded.push(episode) });
    return { run, telemetry: { integrations: [recorder], functionId: 'forecaster' } };
  }

  const weather = tool({
    description: 'The weather',
    inputSchema: city,
    execute: (given) => weatherIn(given),
  });
  const openai = () => createOpenAI({ baseURL: model.url, apiKey: 'none' });

  it('are stored with the messages, tool calls, usage and model that generateText returned', async () => {
    const { run, telemetry } = await recorded();
    const result = await generateText({
      model: openai().chat('gpt-test'),
      instructions: 'Be brief.',
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(5),
      temperature: 0.5,
      telemetry,
    });
    const [episode, ...others] = await runs.stored(run);
    expect(others).toEqual([]);
    expect(episode).toMatchObject({ agent: 'forecaster', parent: null, endReason: 'terminated' });
    expect(episode.steps).toHaveLength(result.steps.length);
    for (const [i, step] of result.steps.entries()) {
      expect(episode.steps[i]).toMatchObject({
        model: step.model.modelId,
        engine: step.model.provider,
        inputTokens: step.usage.inputTokens,
        outputTokens: step.usage.outputTokens,
        temperature: 0.5,
        untrainable: 'no token ids',
      });
      expect(episode.steps[i].output?.content).toBe(step.text);
      expect(callsOf(episode.steps[i].output)).toEqual(
        step.toolCalls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]),
      );
      expect(episode.steps[i].generationMs).toBeGreaterThan(0);
    }
    const told = result.responseMessages.filter(({ role }) => role === 'tool').flatMap(resultsIn);
    expect(
      episode.steps[1].input.map(({ role, tool_call_id, content }) => [role, tool_call_id, content]),
    ).toEqual(told.map(({ toolCallId, text }) => ['tool', toolCallId, text]));
    expect(episode.steps[0].input.map(({ content }) => content)).toEqual(['Be brief.', QUESTION]);
    expect(episode.steps[0].info?.tools).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'weather', callId: 'call_1_0' }),
        expect.objectContaining({ name: 'weather', callId: 'call_1_1', error: 'no data for Rome' }),
      ]) as unknown,
    );
    expect(episode.steps[0].environmentMs).toBeGreaterThan(0);
    expect(episode.steps[0].info?.toolDefinitions).toMatchObject([
      {
        type: 'function',
        function: { name: 'weather', description: 'The weather', parameters: { required: ['city'] } },
      },
    ]);
    expect(episode.steps[1].info).not.toHaveProperty('toolDefinitions');
  });

  it('are stored the same when they stream, over the Responses API', async () => {
    const { run, telemetry } = await recorded();
    const stream = streamText({
      model: openai()('gpt-test'),
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(5),
      telemetry,
    });
    await stream.consumeStream();
    const [episode] = await runs.stored(run);
    const steps = await stream.steps;
    expect(episode.steps.map(({ output }) => output?.content)).toEqual(steps.map(({ text }) => text));
    expect(episode.steps.map(({ inputTokens }) => inputTokens)).toEqual(
      steps.map(({ usage }) => usage.inputTokens),
    );
    expect(episode.steps[0].output?.reasoning_content).toBe('I need both.');
    expect(conversationOf(episode.steps).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    // The server chose the temperature, and the SDK does not tell.
    expect(episode.steps[0].temperature).toBeNull();
  });

  it('name the caller when one agent calls another as a tool', async () => {
    const { run, telemetry } = await recorded();
    const ask_expert = tool({
      description: 'An expert',
      inputSchema: question,
      execute: async ({ question: prompt }) => {
        const { text } = await generateText({
          model: openai().chat('sub'),
          prompt,
          telemetry: { ...telemetry, functionId: 'expert' },
        });
        return text;
      },
    });
    await generateText({
      model: openai().chat('gpt-test'),
      prompt: 'Ask the expert',
      tools: { ask_expert },
      stopWhen: stepCountIs(5),
      telemetry,
    });
    const [outer, inner, ...others] = await runs.stored(run);
    expect(others).toEqual([]);
    expect(outer).toMatchObject({ agent: 'forecaster', parent: null });
    expect(inner).toMatchObject({ agent: 'expert', parent: outer.id });
    expect(outer.steps[1].input[0].content).toBe(inner.steps[0].output?.content);
  });

  it('end abandoned on an error, and truncated when they stop while calling tools, with the results as last observation', async () => {
    const { run, telemetry } = await recorded();
    const failing = generateText({
      model: openai().chat('gpt-test'),
      prompt: 'refuse',
      maxRetries: 0,
      telemetry,
    });
    await expect(failing).rejects.toThrow('the model refuses');
    await generateText({
      model: openai().chat('gpt-test'),
      prompt: QUESTION,
      tools: { weather },
      stopWhen: stepCountIs(1),
      telemetry,
    });
    const [failed, stopped] = await runs.stored(run);
    expect(failed).toMatchObject({
      endReason: 'abandoned',
      endDetail: 'the model refuses',
      steps: [{ output: null }],
    });
    expect(stopped).toMatchObject({
      endReason: 'truncated',
      endDetail: 'ended while the model still called tools',
    });
    expect(stopped.finalObservation.split('\n').sort()).toEqual(['7 degrees in Oslo', 'no data for Rome']);
  });

  it('show which MCP server a tool is of', async () => {
    const { run, telemetry } = await recorded();
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
    await weatherServer().connect(serverSide);
    const mcp = await createMCPClient({ transport: clientSide as never, clientName: 'weather-mcp' });
    await generateText({
      model: openai().chat('gpt-test'),
      prompt: QUESTION,
      tools: await mcp.tools(),
      stopWhen: stepCountIs(5),
      telemetry,
    });
    await mcp.close();
    const [episode] = await runs.stored(run);
    expect(episode.steps[0].info?.tools).toMatchObject([
      { mcpServer: 'weather-mcp' },
      { mcpServer: 'weather-mcp' },
    ]);
    expect(episode.steps[1].input[0].content).toContain('mild in Oslo');
  });

  it('can be rewarded when they have ended', async () => {
    const episode = rewarded[0];
    episode.reward({ name: 'thumbs', value: 1, source: 'customer', rationale: 'it helped' });
    await runs.retrace.flush();
    await runs.api.storeHasCaughtUp();
    const sql = `SELECT episode_id, name, value, source FROM current_rewards WHERE run_id = '${episode.runId}'`;
    expect(await runs.retrace.rows(sql)).toEqual([
      { episode_id: episode.id, name: 'thumbs', value: 1, source: 'customer' },
    ]);
  });
});

/** Results in a message of tools, as texts. */
function resultsIn({ content }: ModelMessage): { toolCallId: string; text: unknown }[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) =>
    part.type === 'tool-result'
      ? [{ toolCallId: part.toolCallId, text: 'value' in part.output ? part.output.value : '' }]
      : [],
  );
}

describe('agents of the OpenAI Agents SDK', () => {
  const weather = agentsTool({
    name: 'weather',
    description: 'The weather',
    parameters: city,
    execute: (given) => weatherIn(given),
  });

  function runnerOf(useResponses: boolean): Runner {
    const openAIClient = new OpenAI({ baseURL: model.url, apiKey: 'none', maxRetries: 0 });
    return new Runner({
      modelProvider: new OpenAIProvider({ openAIClient, useResponses }),
      workflowName: 'forecast',
    });
  }

  async function recorded(): Promise<Run> {
    const run = await runs.start({ name: 'openai-agents' });
    setTracingDisabled(false);
    setTraceProcessors([recordOpenAiAgents(run)]);
    return run;
  }

  const forecaster = () =>
    new Agent({
      name: 'Forecaster',
      instructions: 'Be brief.',
      model: 'gpt-test',
      tools: [weather],
      modelSettings: { temperature: 0.5 },
    });

  it.each([
    { api: 'responses', useResponses: true, stream: false },
    { api: 'responses, streamed', useResponses: true, stream: true },
    { api: 'chat', useResponses: false, stream: false },
    { api: 'chat, streamed', useResponses: false, stream: true },
  ])('are stored as the run result tells them ($api)', async ({ useResponses, stream }) => {
    const run = await recorded();
    const runner = runnerOf(useResponses);
    const result = stream
      ? await runner.run(forecaster(), QUESTION, { stream: true })
      : await runner.run(forecaster(), QUESTION);
    if ('completed' in result) await result.completed;
    const [episode, ...others] = await runs.stored(run);
    expect(others).toEqual([]);
    expect(episode).toMatchObject({ agent: 'Forecaster', parent: null, endReason: 'terminated' });
    expect(episode.externalId).toMatch(/^trace_\w+\/span_\w+$/);
    expect(episode.steps).toHaveLength(result.rawResponses.length);
    for (const [i, { usage }] of result.rawResponses.entries()) {
      expect(episode.steps[i]).toMatchObject({
        model: 'gpt-test',
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        temperature: 0.5,
      });
    }
    expect(episode.steps[1].output?.content).toBe(result.finalOutput);
    // The agent's own history: the question, calls, results and the answer.
    const calls = result.history.filter((item) => item.type === 'function_call');
    expect(callsOf(episode.steps[0].output)).toEqual(
      calls.map(({ callId, name, arguments: given }) => [callId, name, JSON.parse(given) as unknown]),
    );
    const results = result.history.filter((item) => item.type === 'function_call_result');
    expect(
      episode.steps[1].input.map(({ role, tool_call_id, content }) => [role, tool_call_id, content]),
    ).toEqual(results.map(({ callId, output }) => ['tool', callId, (output as { text: string }).text]));
    expect(episode.steps[0].input.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', QUESTION],
    ]);
    expect(episode.steps[0].info?.tools).toHaveLength(2);
  });

  it('name the agent that handed over, and the one that called another as a tool', async () => {
    const run = await recorded();
    const refunds = new Agent({ name: 'Refunds', instructions: 'Refund.', model: 'gpt-test' });
    const triage = new Agent({
      name: 'Triage',
      instructions: 'Route.',
      model: 'gpt-test',
      handoffs: [refunds],
    });
    await runnerOf(true).run(triage, 'I want a refund');
    const expert = new Agent({ name: 'Expert', instructions: 'Know.', model: 'sub' });
    const asking = expert.asTool({
      toolName: 'ask_expert',
      toolDescription: 'An expert',
      runConfig: { modelProvider: runnerOf(true).config.modelProvider },
    });
    const chief = new Agent({ name: 'Chief', instructions: 'Ask.', model: 'gpt-test', tools: [asking] });
    await runnerOf(true).run(chief, 'Ask the expert');
    const episodes = await runs.stored(run);
    const named = (agent: string) => episodes.find((episode) => episode.agent === agent)!;
    expect(episodes).toHaveLength(4);
    expect(named('Triage')).toMatchObject({
      parent: null,
      endReason: 'terminated',
      endDetail: 'handed off to Refunds',
    });
    expect(named('Refunds')).toMatchObject({ parent: named('Triage').id });
    expect(named('Expert')).toMatchObject({ parent: named('Chief').id });
    expect(named('Chief').steps[1].input[0].content).toBe(named('Expert').steps[0].output?.content);
  });

  it('show which MCP server a tool is of, and what it answered, errors too', async () => {
    const run = await recorded();
    const server = await startWeatherServer();
    const mcp = new MCPServerStreamableHttp({ url: server.url, name: 'weather-mcp' });
    try {
      await mcp.connect();
      const agent = new Agent({ name: 'Forecaster', model: 'gpt-test', mcpServers: [mcp] });
      const result = await runnerOf(true).run(agent, QUESTION);
      const [episode] = await runs.stored(run);
      const calls = result.history.filter((item) => item.type === 'function_call');
      expect(callsOf(episode.steps[0].output)).toEqual(
        calls.map(({ callId, name, arguments: given }) => [callId, name, JSON.parse(given) as unknown]),
      );
      expect(episode.steps[0].info?.tools).toMatchObject([
        { name: 'weather', mcpServer: 'weather-mcp' },
        { name: 'weather', mcpServer: 'weather-mcp' },
      ]);
      const [oslo, rome] = episode.steps[1].input;
      expect(JSON.stringify(oslo.content)).toContain('mild in Oslo');
      expect(JSON.stringify(rome.content)).toContain('no data for Rome');
    } finally {
      await mcp.close();
      await server.close();
    }
  });

  it('end abandoned on an error and truncated when they run out of turns', async () => {
    const run = await recorded();
    await expect(runnerOf(true).run(forecaster(), 'refuse')).rejects.toThrow('the model refuses');
    await expect(runnerOf(true).run(forecaster(), QUESTION, { maxTurns: 1 })).rejects.toThrow('Max turns');
    const [failed, stopped] = await runs.stored(run);
    expect(failed).toMatchObject({ endReason: 'abandoned', steps: [{ output: null }] });
    expect(failed.endDetail).toContain('the model refuses');
    expect(stopped).toMatchObject({ endReason: 'truncated' });
    expect(stopped.steps).toHaveLength(1);
    expect(stopped.finalObservation).toContain('7 degrees in Oslo');
  });
});

describe('agents of LangChain and LangGraph', () => {
  const weather = langChainTool((given) => weatherIn(given), {
    name: 'weather',
    description: 'The weather',
    schema: city,
  });
  const chat = (options: { model?: string; useResponsesApi?: boolean } = {}) =>
    new ChatOpenAI({
      model: 'gpt-test',
      apiKey: 'none',
      temperature: 0.5,
      maxRetries: 0,
      configuration: { baseURL: model.url },
      ...options,
    });
  const asking = (text: string) => ({ messages: [new HumanMessage(text)] });

  it.each([
    { api: 'chat', useResponsesApi: false },
    { api: 'responses', useResponsesApi: true },
  ])('are stored as their messages tell them ($api)', async ({ useResponsesApi }) => {
    const run = await runs.start({ name: 'langgraph' });
    const agent = createReactAgent({ llm: chat({ useResponsesApi }), tools: [weather], prompt: 'Be brief.' });
    const { messages } = (await agent.invoke(asking(QUESTION), { callbacks: [recordLangChain(run)] })) as {
      messages: BaseMessage[];
    };
    const [episode, ...others] = await runs.stored(run);
    expect(others).toEqual([]);
    expect(episode).toMatchObject({ agent: 'LangGraph', parent: null, endReason: 'terminated' });
    const stored = conversationOf(episode.steps);
    expect(stored.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ...messages.map((message) => [roleOf(message), message.text]),
    ]);
    const answers = messages.filter((message) => message.getType() === 'ai') as (BaseMessage & {
      usage_metadata: { input_tokens: number; output_tokens: number };
      tool_calls: { id: string; name: string; args: unknown }[];
    })[];
    expect(episode.steps.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual(
      answers.map(({ usage_metadata: usage }) => [usage.input_tokens, usage.output_tokens]),
    );
    expect(episode.steps.map(({ output }) => callsOf(output))).toEqual(
      answers.map(({ tool_calls }) => tool_calls.map(({ id, name, args }) => [id, name, args])),
    );
    expect(episode.steps[0]).toMatchObject({ model: 'gpt-test', engine: 'openai', temperature: 0.5 });
    expect(episode.steps[0].info?.tools).toMatchObject([{ name: 'weather' }, { name: 'weather' }]);
  });

  it('show what tools of an MCP server answered, errors too, and of which server they are where their metadata say so', async () => {
    const run = await runs.start({ name: 'langgraph' });
    const server = await startWeatherServer();
    const mcp = new MultiServerMCPClient({ weather: { transport: 'http', url: server.url } });
    try {
      const tools = await mcp.getTools();
      // The adapter of LangChain doesn't name the server.
      for (const tool of tools) tool.metadata = { ...tool.metadata, mcp_server: 'weather-mcp' };
      const agent = createReactAgent({ llm: chat(), tools });
      await agent.invoke(asking(QUESTION), { callbacks: [recordLangChain(run)] });
      const [episode] = await runs.stored(run);
      const [osloId, romeId] = (episode.steps[0].output?.tool_calls ?? []).map(({ id }) => id);
      expect(episode.steps[0].info?.tools).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: 'weather', mcpServer: 'weather-mcp', callId: osloId }),
          expect.objectContaining({
            ...{ name: 'weather', mcpServer: 'weather-mcp', callId: romeId },
            error: expect.stringContaining('no data for Rome') as string,
          }),
        ]) as unknown,
      );
      const [oslo, rome] = episode.steps[1].input;
      expect(oslo).toMatchObject({ role: 'tool', tool_call_id: osloId, content: 'mild in Oslo' });
      expect(JSON.stringify(rome.content)).toContain('no data for Rome');
    } finally {
      await mcp.close();
      await server.close();
    }
  });

  it('have the id of their run, also when they stream', async () => {
    const run = await runs.start({ name: 'langgraph' });
    const runId = '01936d00-0000-7000-8000-00000000c0de';
    const agent = createReactAgent({ llm: chat(), tools: [weather] });
    const stream = await agent.stream(asking(QUESTION), {
      callbacks: [recordLangChain(run)],
      runId,
      streamMode: 'messages',
    });
    for await (const part of stream) expect(part).toBeDefined();
    run.reward({ episode: runId, name: 'score', value: 0.25 });
    const [episode] = await runs.stored(run);
    expect(episode.id).toBe(runId);
    expect(episode.steps.map(({ output }) => output?.content)).toEqual([
      'Looking.',
      expect.stringContaining('7 degrees in Oslo'),
    ]);
  });

  it('name the graph around them: in a tool, and in a node', async () => {
    const run = await runs.start({ name: 'langgraph' });
    const callbacks = [recordLangChain(run)];
    const expert = createReactAgent({ llm: chat({ model: 'sub' }), tools: [], name: 'expert' });
    const ask_expert = langChainTool(
      async ({ question: text }, config) => {
        const { messages } = (await expert.invoke(asking(text), config)) as { messages: BaseMessage[] };
        return messages.at(-1)!.text;
      },
      { name: 'ask_expert', description: 'An expert', schema: question },
    );
    await createReactAgent({ llm: chat(), tools: [ask_expert], name: 'boss' }).invoke(
      asking('Ask the expert'),
      { callbacks },
    );
    const pipeline = new StateGraph(MessagesAnnotation)
      .addNode('research', expert as never)
      .addNode('write', async ({ messages }) => ({ messages: [await chat().invoke(messages)] }))
      .addEdge(START, 'research' as never)
      .addEdge('research' as never, 'write' as never)
      .compile({ name: 'pipeline' });
    await pipeline.invoke(asking('sub-question'), { callbacks });
    const episodes = await runs.stored(run);
    const named = (name: string) => episodes.filter(({ agent }) => agent === name);
    expect(episodes).toHaveLength(4);
    const [inTool, inNode] = named('expert');
    expect(inTool.parent).toBe(named('boss')[0].id);
    expect(inNode.parent).toBe(named('pipeline')[0].id);
    expect(named('boss')[0].steps[1].input[0].content).toBe(inTool.steps[0].output?.content);
    expect(named('pipeline')[0].steps).toHaveLength(1);
  });

  it('end abandoned on an error and truncated at the recursion limit; a model by itself is an episode', async () => {
    const run = await runs.start({ name: 'langgraph' });
    const callbacks = [recordLangChain(run)];
    const agent = createReactAgent({ llm: chat(), tools: [weather] });
    await expect(agent.invoke(asking('refuse'), { callbacks })).rejects.toThrow('the model refuses');
    await expect(agent.invoke(asking(QUESTION), { callbacks, recursionLimit: 2 })).rejects.toThrow(
      'Recursion limit',
    );
    await chat().invoke('Hello', { callbacks });
    const [failed, stopped, alone] = await runs.stored(run);
    expect(failed).toMatchObject({
      endReason: 'abandoned',
      endDetail: '400 the model refuses',
      steps: [{ output: null }],
    });
    expect(stopped).toMatchObject({ endReason: 'truncated' });
    expect(stopped.finalObservation).toContain('7 degrees in Oslo');
    expect(alone).toMatchObject({ agent: 'ChatOpenAI', endReason: 'terminated' });
    expect(alone.steps[0].input).toEqual([{ role: 'user', content: 'Hello' }]);
  });
});

function roleOf(message: BaseMessage): string {
  return { human: 'user', ai: 'assistant', tool: 'tool' }[message.getType() as string] ?? '';
}

describe('all of them', () => {
  it('were recorded without an error of the client', () => {
    expect(runs.errors).toEqual([]);
  });
});
