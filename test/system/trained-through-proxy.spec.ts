import { join } from 'node:path';
import { bandit } from '@retrace/environments';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace, type Session } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

/** Of the policy that the agent uses: the second of a short run. */
const VERSION = '2';
const NUM_GROUPS = 64;
const GROUP_SIZE = 8;
const CONCURRENCY = 16;

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

/** An agent that knows an address only, `retrace proxy` before `retrace serve`, and what is learned from its episodes. */
describe('a policy that an agent uses through the proxy', () => {
  const directory = makeDataDirectory();
  const data = ['--data-dir', join(directory.path, 'data')];
  const sessions: Session[] = [];

  afterAll(async () => {
    for (const session of sessions.reverse()) await session.killTree();
    directory.remove();
  });

  function start(...args: readonly string[]): Session {
    const session = startRetrace([...args, ...data]);
    sessions.push(session);
    return session;
  }

  async function retrace(...args: readonly string[]) {
    return runRetrace([...args, ...data]);
  }

  async function rows<Row>(sql: string): Promise<readonly Row[]> {
    const { code, stdout, stderr } = await retrace('sql', sql, '--format', 'json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as readonly Row[];
  }

  /** Lets the agent play, and returns the run of its episodes, which has ended. */
  async function record(policyRun: string): Promise<string> {
    const up = start('up', '--no-training', '--port', '0');
    const api = await up.untilServing();
    const server = start('serve', '--run', policyRun, '--policy-version', VERSION, '--port', '0');
    const upstream = await server.waitFor(/(http:\/\/127\S+\/v1)/);
    const proxy = start('proxy', '--upstream', upstream, '--retrace', api, '--port', '0', '--run', 'agent');
    const address = (await proxy.waitFor(/at (http:\S+)\/v1, run/)).replace(/\/v1$/, '');
    await playGroups(address);
    await expect
      .poll(
        async () => {
          const health = await (await fetch(`${address}/health`)).json();
          return (health as { retrace: { numPending: number } }).retrace.numPending;
        },
        { timeout: 120_000 },
      )
      .toBe(0);
    const { items } = (await (await fetch(`${api}/api/runs`)).json()) as {
      readonly items: readonly { readonly runId: string; readonly name: string }[];
    };
    const recorded = items.find(({ name }) => name === 'agent')?.runId ?? '';
    await post(`${api}/api/runs/${recorded}/end`, { reason: 'finished' });
    for (const session of [proxy, server, up]) await session.stop('SIGINT');
    return recorded;
  }

  it('becomes better at the tasks by what the proxy recorded', async () => {
    await placeTrainedDirectory(data[1], 1);
    const [{ run_id: policyRun }] = await rows<{ run_id: string }>('SELECT run_id FROM runs');
    const recorded = await record(policyRun);
    const [steps] = await rows<Record<string, unknown>>(
      `SELECT toUInt32(count()) AS steps, groupUniqArray(untrainable) AS reasons, groupUniqArray(temperature) AS temperatures,
         groupUniqArray(tokenizer_hash) = (SELECT groupUniqArray(tokenizer_hash) FROM steps WHERE run_id = '${policyRun}') AS sameTokenizer
       FROM steps WHERE run_id = '${recorded}'`,
    );
    expect(steps).toEqual({
      steps: NUM_GROUPS * GROUP_SIZE,
      reasons: [''],
      temperatures: [1],
      sameTokenizer: 1,
    });
    const trained = await retrace(
      ...['train', '--from-run', recorded, '--recipe', 'bandit-ppo', '--algorithm', 'grpo'],
      ...['--init-from', `run:${policyRun}@${VERSION}`, '--updates', '16'],
      ...['--set', 'reward.components=[{"reward":"goal"}]'],
      ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'],
    );
    expect(trained.code, trained.stderr).toBe(0);
    // Ratios to the logprobs that the proxy recorded are clipped, so one history moves the policy by so much only: what is likeliest changes first.
    const played = await retrace(
      ...['play', '--policy', `run:${policyRun}@${VERSION}`, '--policy', 'latest', '--recipe', 'bandit-ppo'],
      ...['--split', 'train', '--seed', '77', '--tasks', `${NUM_GROUPS}`, '--greedy', '--json'],
    );
    expect(played.code, played.stderr).toBe(0);
    const { comparisons } = JSON.parse(played.stdout) as {
      readonly comparisons: readonly { readonly difference: number; readonly differenceLow: number }[];
    };
    expect(comparisons[0].difference).toBeGreaterThan(0.3);
    expect(comparisons[0].differenceLow).toBeGreaterThan(0);
  }, 600_000);
});

async function playGroups(address: string): Promise<void> {
  const waiting = Array.from({ length: NUM_GROUPS * GROUP_SIZE }, (_, i) => i);
  const worker = async () => {
    for (let i = waiting.shift(); i !== undefined; i = waiting.shift())
      await playEpisode(address, Math.floor(i / GROUP_SIZE), i % GROUP_SIZE);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** One episode of the bandit, as an agent plays it that knows OpenAI's API only. It states its temperature; what else is sampled with, the server tells the proxy. */
async function playEpisode(address: string, group: number, member: number): Promise<void> {
  const { task, seed } = bandit.sampleTask({ split: 'train', index: group, seed: 77 });
  const environment = bandit.create();
  const { text } = await environment.reset({ task, seed, member });
  const episode = `${address}/e/g${group}-${member}`;
  const body = { messages: [{ role: 'user', content: text }], temperature: 1, max_tokens: 1 };
  const answer = await post<Answer>(`${episode}/v1/chat/completions`, body, {
    'x-retrace-group': `g${group}`,
    'x-retrace-group-size': `${GROUP_SIZE}`,
    'x-retrace-task': JSON.stringify(task),
  });
  const { success } = await environment.step(answer.choices[0].message.content);
  await post(`${episode}/end`, { success });
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
