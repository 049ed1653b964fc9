import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { openBackend } from '@retrace/compute';
import { openDirectorySupply, startServer, type RunningServer } from '@retrace/gateway/serve';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { QUESTION, writeTaughtModel } from '../support/taught-model.js';

let home: string;
let server: RunningServer;
const warnings: string[] = [];

beforeAll(async () => {
  await openBackend();
  home = await mkdtemp(join(tmpdir(), 'retrace-served-'));
  const supply = await openDirectorySupply(await writeTaughtModel(home), 'tiny');
  server = await startServer(
    {
      ...{ host: '127.0.0.1', port: 0, keyDirectory: null, concurrency: 16, maxQueued: 4 },
      ...{ contextLength: 256, maxBodyBytes: 1e6, logprobsMode: 'raw_logprobs', allowedHosts: [] },
    },
    supply,
    { version: 'test', warn: (message) => warnings.push(message) },
  );
});

afterAll(async () => {
  await server?.close();
  await rm(home, { recursive: true, force: true });
  expect(warnings).toEqual([]);
});

const weather = tool({
  description: 'The weather',
  inputSchema: z.object({ city: z.string() }),
  execute: () => 'cold',
});
const asked = { prompt: QUESTION.content, tools: { weather }, stopWhen: stepCountIs(3), temperature: 0 };

it('the Vercel AI SDK lets a served model call a tool and go on with its result, whole and in streams', async () => {
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' }).chat('tiny');
  const whole = await generateText({ ...asked, model });
  expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
  expect(whole.steps[0].toolCalls[0]).toMatchObject({ toolName: 'weather', input: { city: 'Oslo' } });
  expect(whole.text).toBe('It is cold.');
  const streamed = streamText({ ...asked, model });
  expect(await streamed.text).toBe('It is cold.');
  expect((await streamed.steps)[0].toolCalls).toHaveLength(1);
});
