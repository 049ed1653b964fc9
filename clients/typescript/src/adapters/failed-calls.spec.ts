import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { recordAiSdk } from './ai-sdk.js';
import { recordLangChain } from './langchain.js';
import { recordOpenAiAgents } from './openai-agents.js';
import type { AgentsSpan } from './openai-agents-spans.js';
import { recordingRun } from './recording-run.fixture.js';

type Fields = Readonly<Record<string, unknown>>;

const PROMPT = [{ role: 'user', content: 'q' }];
const FAILED = {
  messages: { input: PROMPT, output: null },
  untrainable: 'the call failed',
  info: { error: { message: 'no route' } },
};

describe('a call that fails', () => {
  it('keeps its prompt, of the AI SDK', () => {
    const { run, steps, ends } = recordingRun();
    const recorder = recordAiSdk(run);
    const call = { callId: 'c', provider: 'p', modelId: 'm' };
    recorder.onStart({ callId: 'c' });
    recorder.onLanguageModelCallStart({ ...call, messages: PROMPT, temperature: 0.5 });
    recorder.onError({ callId: 'c', error: new Error('no route') });
    expect(steps).toMatchObject([{ ...FAILED, model: 'm', sampling: { temperature: 0.5 } }]);
    expect(ends).toEqual([{ endReason: 'abandoned', detail: 'no route' }]);
  });

  it('is no second step where the answer came before the error', () => {
    const { run, steps } = recordingRun();
    const recorder = recordAiSdk(run);
    const call = { callId: 'c', provider: 'p', modelId: 'm' };
    recorder.onLanguageModelCallStart({ ...call, messages: PROMPT });
    const content = [{ type: 'text', text: 'a' }];
    recorder.onLanguageModelCallEnd({ ...call, finishReason: 'stop', content, usage: {} });
    recorder.onError({ callId: 'c', error: new Error('in a tool') });
    expect(steps).toHaveLength(1);
    expect(steps[0]).not.toHaveProperty('untrainable');
  });

  it('keeps its prompt, of LangChain', () => {
    const { run, steps, ends } = recordingRun();
    const recorder = recordLangChain(run);
    const message = { getType: () => 'human', content: 'q' };
    recorder.handleChatModelStart({ id: ['m'] }, [[message]], 'r');
    recorder.handleLLMError(new Error('no route'), 'r');
    expect(steps).toMatchObject([FAILED]);
    expect(ends).toEqual([{ endReason: 'abandoned', detail: 'no route' }]);
  });

  it.each(['response', 'generation'])('keeps its prompt, of the OpenAI Agents SDK (%s)', async (type) => {
    const { run, steps, ends } = recordingRun();
    const recorder = recordOpenAiAgents(run);
    const error = { message: 'no route' };
    const span = (fields: Fields) =>
      ({ traceId: 't', startedAt: null, endedAt: null, error: null, ...fields }) as unknown as AgentsSpan;
    const agent = span({ spanId: 'a', parentId: null, spanData: { type: 'agent', name: 'x' } });
    const asked = type === 'response' ? { _input: PROMPT } : { input: PROMPT };
    const call = span({ spanId: 'c', parentId: 'a', error, spanData: { type, ...asked } });
    await recorder.onSpanStart(agent);
    await recorder.onSpanStart(call);
    await recorder.onSpanEnd(call);
    await recorder.onSpanEnd({ ...agent, error } as AgentsSpan);
    expect(steps).toMatchObject([FAILED]);
    expect(ends).toEqual([{ endReason: 'abandoned', detail: 'no route' }]);
  });
});

describe('a version of the AI SDK before 7', () => {
  it('is refused by its name, in the log too, as it hides what a hook throws', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { run, steps } = recordingRun();
    const recorder = recordAiSdk(run);
    // The event of version 6 has no id of the call.
    const ofVersion6 = { model: { provider: 'p', modelId: 'm' }, messages: PROMPT };
    expect(() => {
      recorder.onStart(ofVersion6);
    }).toThrow(/version 7, and this is version 6: .*OpenTelemetry/);
    // Version 5 takes a tracer.
    expect(() => recorder.startActiveSpan()).toThrow(/version 5 or 6/);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(steps).toEqual([]);
    warn.mockRestore();
  });

  it.each([
    ['5.0.277', /version 7, and this is version 5\.0\.277: .*OpenTelemetry/],
    ['7.0.173', null],
  ])('is refused where it is installed, as version 5 calls no hook: %s', (version, refusal) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const directory = mkdtempSync(join(tmpdir(), 'retrace-ai-'));
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(directory);
    mkdirSync(join(directory, 'node_modules', 'ai'), { recursive: true });
    writeFileSync(join(directory, 'node_modules', 'ai', 'package.json'), JSON.stringify({ version }));
    const record = () => recordAiSdk(recordingRun().run);
    if (refusal === null) expect(record).not.toThrow();
    else expect(record).toThrow(refusal);
    cwd.mockRestore();
    warn.mockRestore();
    rmSync(directory, { recursive: true });
  });
});
