import { join } from 'node:path';
import type { EnvironmentSpec } from '@retrace/environments';
import { expect } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace, type Session } from './cli.mjs';

const SEED = 77;
const CONCURRENCY = 16;

/** Tasks that an agent plays, one turn an episode. */
export interface ProxiedGame {
  readonly environment: EnvironmentSpec;
  readonly numGroups: number;
  readonly groupSize: number;
  /** Of an action. */
  readonly maxTokens: number;
}

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

/** An agent that knows an address only, `retrace proxy` before a server, and what is trained on and played after it, in one data directory. */
export class ProxiedTraining {
  private readonly home = makeDataDirectory();
  private readonly sessions: Session[] = [];

  constructor(private readonly game: ProxiedGame) {}

  /** Path of the data directory. */
  get data(): string {
    return join(this.home.path, 'data');
  }

  async end(): Promise<void> {
    for (const session of this.sessions.reverse()) await session.killTree();
    this.home.remove();
  }

  start(...args: readonly string[]): Session {
    const session = startRetrace([...args, '--data-dir', this.data]);
    this.sessions.push(session);
    return session;
  }

  /** Runs a command to its end, which must be a good one. */
  async retrace(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runRetrace([...args, '--data-dir', this.data]);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  async rows<Row>(sql: string): Promise<readonly Row[]> {
    return JSON.parse(await this.retrace('sql', sql, '--format', 'json')) as readonly Row[];
  }

  /**
   * Lets the agent play, and returns the run of its episodes, which has ended.
   *
   * @param openServer starts what is behind the proxy, once the store is there; returns its address, and how it is stopped
   * @param options of the proxy
   */
  async record(
    openServer: () => Promise<readonly [string, () => Promise<unknown>]>,
    options: readonly string[] = [],
  ): Promise<string> {
    const up = this.start('up', '--no-training', '--port', '0');
    const api = await up.untilServing();
    const [upstream, stopServer] = await openServer();
    const to = ['--upstream', upstream, '--retrace', api, '--port', '0', '--run', 'agent'];
    const proxy = this.start('proxy', ...to, ...options);
    const address = (await proxy.waitFor(/at (http:\S+)\/v1, run/)).replace(/\/v1$/, '');
    await this.playGroups(address);
    await expect.poll(() => numPending(address), { timeout: 120_000 }).toBe(0);
    const { items } = (await (await fetch(`${api}/api/runs`)).json()) as {
      readonly items: readonly { readonly runId: string; readonly name: string }[];
    };
    const recorded = items.find(({ name }) => name === 'agent')?.runId ?? '';
    await post(`${api}/api/runs/${recorded}/end`, { reason: 'finished' });
    await proxy.stop('SIGINT');
    await stopServer();
    await up.stop('SIGINT');
    return recorded;
  }

  /** Appends records to a run, over the API. */
  async append(runId: string, records: readonly object[]): Promise<void> {
    const up = this.start('up', '--no-training', '--port', '0');
    await post(`${await up.untilServing()}/api/runs/${runId}/records`, records);
    await up.stop('SIGINT');
  }

  /** Plays the tasks of the agent with two policies, and returns how much more often the second succeeds. */
  async compare(
    before: string,
    after: string,
    options: readonly string[],
  ): Promise<{ readonly difference: number; readonly differenceLow: number }> {
    const played = await this.retrace(
      ...['play', '--policy', before, '--policy', after, '--split', 'train', '--seed', `${SEED}`],
      ...['--tasks', `${this.game.numGroups}`, '--json', ...options],
    );
    const { comparisons } = JSON.parse(played) as {
      readonly comparisons: readonly { readonly difference: number; readonly differenceLow: number }[];
    };
    return comparisons[0];
  }

  private async playGroups(address: string): Promise<void> {
    const { numGroups, groupSize } = this.game;
    const waiting = Array.from({ length: numGroups * groupSize }, (_, i) => i);
    const worker = async () => {
      for (let i = waiting.shift(); i !== undefined; i = waiting.shift())
        await this.playEpisode(address, Math.floor(i / groupSize), i % groupSize);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  /** One episode, as an agent plays it that knows OpenAI's API only, with a like where it was a success. It states its temperature; what else is sampled with, the server tells the proxy. */
  private async playEpisode(address: string, group: number, member: number): Promise<void> {
    const { environment, groupSize, maxTokens } = this.game;
    const { task, seed } = environment.sampleTask({ split: 'train', index: group, seed: SEED });
    const world = environment.create();
    const { text } = await world.reset({ task, seed, member });
    const episode = `${address}/e/g${group}-${member}`;
    const body = {
      messages: [{ role: 'user', content: text }],
      // Each time the same episodes, whatever runs beside them.
      ...{ temperature: 1, max_tokens: maxTokens, seed: group * groupSize + member },
    };
    const answer = await post<Answer>(`${episode}/v1/chat/completions`, body, {
      'x-retrace-group': `g${group}`,
      'x-retrace-group-size': `${groupSize}`,
      'x-retrace-task': JSON.stringify(task),
    });
    const { success } = await world.step(answer.choices[0].message.content);
    await post(`${episode}/end`, { success });
    await post(`${episode}/reward`, { name: 'liked', value: success === true ? 1 : -1, source: 'customer' });
  }
}

/** How many records the proxy has yet to send. */
async function numPending(address: string): Promise<number> {
  const health = await (await fetch(`${address}/health`)).json();
  return (health as { retrace: { numPending: number } }).retrace.numPending;
}

async function post<T>(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return (text === '' ? null : JSON.parse(text)) as T;
}
