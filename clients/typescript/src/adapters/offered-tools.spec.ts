import { describe, expect, it } from 'vitest';
import { recordAiSdk } from './ai-sdk.js';
import { recordLangChain } from './langchain.js';
import type { AgentsSpan } from './openai-agents-spans.js';
import { recordOpenAiAgents } from './openai-agents.js';
import { recordingRun } from './recording-run.fixture.js';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const WEATHER = { type: 'function', function: { name: 'weather', description: 'd', parameters: PARAMETERS } };

/** The tools of each step, where a step has some. */
const offered = (steps: readonly Readonly<Record<string, unknown>>[]) =>
  steps.map(({ info }) => (info as { readonly toolDefinitions?: unknown } | undefined)?.toolDefinitions);

describe('the tools that a call offered are recorded where they change', () => {
  it('of the AI SDK, in the shape of OpenAI', () => {
    const { run, steps } = recordingRun();
    const recorder = recordAiSdk(run);
    const call = { callId: 'c', provider: 'p', modelId: 'm', messages: [{ role: 'user', content: 'q' }] };
    const tools = [{ type: 'function', name: 'weather', description: 'd', inputSchema: PARAMETERS }];
    for (const each of [tools, tools, undefined]) {
      recorder.onLanguageModelCallStart({ ...call, tools: each });
      recorder.onLanguageModelCallEnd({ ...call, finishReason: 'stop', content: [], usage: {} });
    }
    recorder.onEnd({ callId: 'c', finishReason: 'stop' });
    expect(offered(steps)).toEqual([[WEATHER], undefined, []]);
  });

  it('of LangChain, also where the call fails', () => {
    const { run, steps } = recordingRun();
    const recorder = recordLangChain(run);
    const message = { getType: () => 'human', content: 'q' };
    const params = { invocation_params: { tools: [WEATHER] } };
    recorder.handleChatModelStart({ id: ['m'] }, [[message]], 'r', undefined, params);
    recorder.handleLLMError(new Error('no route'), 'r');
    expect(offered(steps)).toEqual([[WEATHER]]);
  });

  it('of the OpenAI Agents SDK, as the Responses API gives them back; chat completions do not tell', async () => {
    const { run, steps } = recordingRun();
    const recorder = recordOpenAiAgents(run);
    const span = (fields: object) =>
      ({ traceId: 't', startedAt: null, endedAt: null, error: null, ...fields }) as unknown as AgentsSpan;
    const agent = span({ spanId: 'a', parentId: null, spanData: { type: 'agent', name: 'x' } });
    const tool = { type: 'function', name: 'weather', parameters: PARAMETERS };
    const spans = [
      { type: 'response', _input: 'q', _response: { output: [], tools: [tool] } },
      { type: 'generation', input: [], output: [{ role: 'assistant', content: 'a' }] },
      { type: 'response', _input: 'q', _response: { output: [], tools: [tool] } },
    ].map((spanData, i) => span({ spanId: `c${i}`, parentId: 'a', spanData }));
    await recorder.onSpanStart(agent);
    for (const each of spans) {
      await recorder.onSpanStart(each);
      await recorder.onSpanEnd(each);
    }
    await recorder.onSpanEnd(agent);
    expect(offered(steps)).toEqual([[tool], undefined, undefined]);
  });
});
