import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startOpenAiServer, type OpenAiServer } from '@retrace/openai-server';
import { findFreePort } from '@retrace/process/free-port';
import type { ProxyConfig } from '@retrace/gateway/proxy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KillableApi } from '../support/killable-api.js';

const PROXY = fileURLToPath(new URL('../support/proxy-child.mjs', import.meta.url));
const NUM_AGENTS = 8;
const NUM_TURNS = 25;
const NUM_KILLS = 5;
const BETWEEN_KILLS_MS = 1_500;

interface Message {
  readonly role: string;
  readonly content: string;
}

let upstream: OpenAiServer;
let proxyPort: number;
let api: KillableApi;
let proxy: ChildProcess | null = null;
/** Agents go on for as long as processes are killed. */
let areKilling = true;

beforeAll(async () => {
  api = await KillableApi.prepare();
  // Each answer is different, so that a call that is made twice has two answers.
  let n = 0;
  upstream = await startOpenAiServer(({ question }) => ({
    content: `${question} answered as ${n++}`,
    betweenMs: 1,
  }));
  proxyPort = await findFreePort();
});

afterAll(async () => {
  proxy?.kill('SIGKILL');
  await upstream?.close();
  await api?.close();
});

async function startProxyProcess(): Promise<void> {
  const config: ProxyConfig = {
    upstream: upstream.url,
    upstreamKind: 'openai',
    upstreamKey: null,
    upstreamTimeoutMs: 60_000,
    host: '127.0.0.1',
    allowedHosts: [],
    port: proxyPort,
    retraceUrl: api.url,
    retraceKey: null,
    run: 'killed',
    stateDirectory: join(api.directory, 'proxy'),
    idleMs: 3_600_000,
    maxBodyBytes: 1024 ** 2,
    logprobMode: null,
  };
  proxy = spawn(process.execPath, [PROXY, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(proxy.stdout!, 'data');
}

async function kill(child: ChildProcess | null): Promise<void> {
  if (!child) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}

/** One call, repeated until its answer came whole; returns the answer's text. */
async function ask(episode: string, messages: readonly Message[], stream: boolean): Promise<string> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${proxyPort}/e/${episode}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', stream, messages }),
      });
      const text = await response.text();
      if (response.ok) return stream ? streamedText(text) : wholeText(text);
    } catch {
      // The proxy was killed: nothing whole came.
    }
    await sleep(50);
  }
}

function wholeText(text: string): string {
  const { choices } = JSON.parse(text) as { choices: { message: Message }[] };
  return choices[0].message.content;
}

function streamedText(text: string): string {
  if (!text.includes('data: [DONE]')) throw new Error('the stream broke');
  const chunks = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return chunks
    .map((event) => {
      const { choices } = JSON.parse(event.slice('data: '.length)) as {
        choices: { delta: { content?: string } }[];
      };
      return choices[0]?.delta.content ?? '';
    })
    .join('');
}

/** A conversation of several turns; returns the answers that came whole. */
async function agent(name: string): Promise<string[]> {
  const messages: Message[] = [{ role: 'system', content: name }];
  const answers: string[] = [];
  for (let turn = 0; turn < NUM_TURNS || areKilling; turn++) {
    messages.push({ role: 'user', content: `${name} turn ${turn}` });
    const answer = await ask(name, messages, turn % 2 === 0);
    answers.push(answer);
    messages.push({ role: 'assistant', content: answer });
  }
  return answers;
}

describe('agents whose proxy and whose Retrace are killed', () => {
  it(
    'have every answer that they received whole recorded once, in one conversation each',
    { tags: 'release' },
    async () => {
      await startProxyProcess();
      const names = Array.from({ length: NUM_AGENTS }, (_, i) => `agent-${i}`);
      const playing = Promise.all(names.map(agent));
      // At first Retrace does not run at all.
      await sleep(BETWEEN_KILLS_MS);
      for (let i = 0; i < NUM_KILLS; i++) {
        if (i % 2 === 0) {
          await api.kill();
          await api.start();
        }
        await sleep(BETWEEN_KILLS_MS);
        await kill(proxy);
        await startProxyProcess();
      }
      areKilling = false;
      const answers = await playing;
      await expect
        .poll(
          async () => {
            const health = (await (await fetch(`http://127.0.0.1:${proxyPort}/health`)).json()) as {
              retrace: { numPending: number; numRefused: number };
            };
            return health.retrace;
          },
          { timeout: 120_000 },
        )
        .toMatchObject({ numPending: 0, numRefused: 0 });
      const recordedActions = async () =>
        (await api.client.queryRows<{ action: string }>("SELECT action FROM steps WHERE action != ''")).map(
          ({ action }) => action,
        );
      const missing = async () => {
        const recorded = new Set(await recordedActions());
        return answers.flat().filter((answer) => !recorded.has(answer));
      };
      await expect.poll(missing).toEqual([]);
      const recorded = await recordedActions();
      // An answer is recorded that its agent did not receive, if the proxy was killed between the two; never twice.
      expect(new Set(recorded).size).toBe(recorded.length);
      const gaps = await api.client.queryRows(
        'SELECT episode_id FROM steps GROUP BY run_id, episode_id HAVING max(step) + 1 != count()',
      );
      expect(gaps).toEqual([]);
    },
  );
});
