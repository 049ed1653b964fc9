import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  appendToContext,
  Retrace,
  type RetraceError,
  uuidV7,
  type AnnotationRecord,
  type EndRecord,
  type EpisodeRecord,
  type LiveMessage,
  type RewardRecord,
  type Run,
  type RunEnd,
  type RunStart,
  type StepRecord,
} from '@retrace/client';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type { components } from '../apps/dashboard/src/api-types/schema.js';
import { RecordedRuns } from './support/recorded-run.js';

/** A type without `readonly`, which generated types do not have. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Plain<T[Name]> }
    : T;

let runs: RecordedRuns;

beforeAll(async () => {
  runs = await RecordedRuns.open();
});

afterAll(async () => {
  await runs?.close();
});

async function stored(): Promise<void> {
  expect(await runs.retrace.flush()).toBe(true);
  await runs.api.storeHasCaughtUp();
}

describe('records of the client', () => {
  it("have the types of the API's OpenAPI document", () => {
    type Schemas = components['schemas'];
    expectTypeOf<Plain<RunStart>>().toExtend<Schemas['StartRunRequest']>();
    expectTypeOf<Plain<RunEnd>>().toExtend<Schemas['EndRunRequest']>();
    expectTypeOf<Plain<EpisodeRecord>>().toExtend<Schemas['EpisodeRecord']>();
    expectTypeOf<Plain<EndRecord>>().toExtend<Schemas['EndRecord']>();
    expectTypeOf<Plain<RewardRecord>>().toExtend<Schemas['RewardRecord']>();
    expectTypeOf<Plain<AnnotationRecord>>().toExtend<Schemas['AnnotationRecord']>();
    expectTypeOf<Plain<Omit<StepRecord, 'messages' | 'tokens'>>>().toExtend<
      Omit<Schemas['StepRecord'], 'messages' | 'tokens'>
    >();
    expectTypeOf<keyof StepRecord>().toEqualTypeOf<keyof Schemas['StepRecord']>();
    expectTypeOf<keyof NonNullable<StepRecord['tokens']>>().toEqualTypeOf<
      keyof NonNullable<Schemas['StepRecord']['tokens']>
    >();
  });

  it('are in the store with every field that was given', async () => {
    const run = await runs.start({
      name: 'fields',
      environment: 'shop',
      tags: ['nightly'],
      metadata: { commit: 'abc' },
    });
    const parent = run.episode({ agent: 'planner' });
    parent.end();
    const episode = run.episode({
      task: { goal: 'buy' },
      split: 'test',
      agent: 'buyer',
      externalId: 'order-17',
      tags: ['v1'],
      metadata: { customer: 3 },
      parentEpisode: parent.id,
      environmentSeed: 5,
    });
    const first = appendToContext([], [1, 2, 3], [4, 5], { logprobs: [-0.5, -0.25], version: 2 });
    const second = appendToContext(first.context, [1, 2, 3, 4, 5, 6], [7], { logprobs: [-1], version: 3 });
    episode.step({
      observation: 'shop',
      action: 'look',
      reward: 0.5,
      rewards: { format: 1, style: null },
      tokens: { ...first.tokens, routedExperts: [0, 7, 1, 6, 2, 5, 3, 4, 300, 0] },
      sampling: { temperature: 1 },
      engine: 'vllm',
      model: 'tiny',
      logprobMode: 'processed',
      usage: { inputTokens: 3, outputTokens: 2, costUsd: 0.001 },
      generationMs: 12.5,
      environmentMs: 2,
      actionValid: true,
    });
    episode.step({
      observation: 'shelf',
      action: 'take',
      tokens: second.tokens,
      info: { shelf: 4 },
      terminated: true,
    });
    episode.end({ success: true, finalObservation: 'bought' });
    episode.reward({ name: 'human', value: 1, source: 'ada', rationale: 'right item' });
    episode.reward({ name: 'human', value: 0.75, source: 'ada' });
    run.annotate({ episode: episode.id, tags: ['v1', 'checked'], source: 'ada' });
    run.end({ reason: 'finished' });
    await stored();
    const where = `WHERE run_id = '${run.id}' AND episode_id = '${episode.id}'`;
    expect(
      await runs.retrace.rows(`SELECT name, kind, environment, tags FROM runs WHERE run_id = '${run.id}'`),
    ).toEqual([{ name: 'fields', kind: 'recorded', environment: 'shop', tags: ['nightly'] }]);
    expect(
      await runs.retrace.rows(
        `SELECT agent, split, task, external_id, tags, metadata, parent_episode_id, environment_seed, success, num_steps, final_observation FROM episodes ${where}`,
      ),
    ).toEqual([
      {
        agent: 'buyer',
        split: 'test',
        task: '{"goal":"buy"}',
        external_id: 'order-17',
        tags: ['v1', 'checked'],
        metadata: '{"customer":3}',
        parent_episode_id: parent.id,
        environment_seed: 5,
        success: true,
        num_steps: 2,
        final_observation: 'bought',
      },
    ]);
    expect(
      await runs.retrace.rows(
        `SELECT step, observation, action, token_ids, action_mask, kept_prefix_tokens, token_policy_versions, token_routed_experts, engine, model, input_tokens, cost_usd, generation_ms, untrainable FROM steps ${where} ORDER BY step`,
      ),
    ).toMatchObject([
      {
        step: 0,
        observation: 'shop',
        action: 'look',
        token_ids: [1, 2, 3, 4, 5],
        action_mask: [0, 0, 0, 1, 1],
        token_policy_versions: [-1, -1, -1, 2, 2],
        token_routed_experts: [0, 7, 1, 6, 2, 5, 3, 4, 300, 0],
        engine: 'vllm',
        model: 'tiny',
        input_tokens: 3,
        cost_usd: 0.001,
        generation_ms: 12.5,
        untrainable: '',
      },
      {
        step: 1,
        token_ids: [6, 7],
        action_mask: [0, 1],
        kept_prefix_tokens: 5,
        untrainable: 'sampling parameters unknown',
      },
    ]);
    expect(await runs.retrace.rows(`SELECT name, value, source FROM current_rewards ${where}`)).toEqual([
      { name: 'human', value: 0.75, source: 'ada' },
    ]);
    expect(runs.errors).toEqual([]);
  });

  it('that the API refuses are reported with its words, and hold up no others', async () => {
    const run = await runs.start({ name: 'refused' });
    run.record({ type: 'step', episode: uuidV7(), step: 0, action: 'of no episode' });
    const episode = run.episode();
    episode.step({ action: 'good' });
    episode.end();
    await stored();
    expect(runs.errors.splice(0)).toMatchObject([{ code: 'REFUSED', problem: 'EPISODE_UNKNOWN' }]);
    expect(await runs.retrace.rows(`SELECT action FROM steps WHERE run_id = '${run.id}'`)).toEqual([
      { action: 'good' },
    ]);
  });

  it(
    'of an episode that was deleted are reported as such, and hold up no others',
    { tags: 'release' },
    async () => {
      const run = await runs.start({ name: 'deleted' });
      const [deleted, kept] = [run.episode(), run.episode()];
      for (const episode of [deleted, kept]) episode.step({ action: 'before' });
      await stored();
      const { url } = runs.api.api;
      const gone = await fetch(`${url}/api/runs/${run.id}/episodes/${deleted.id}`, { method: 'DELETE' });
      expect(gone.status).toBe(200);
      for (const episode of [deleted, kept]) episode.step({ action: 'after' });
      for (const episode of [deleted, kept]) episode.end();
      await stored();
      expect(runs.errors.splice(0)).toMatchObject([
        { code: 'REFUSED', status: 409, problem: 'EPISODE_DELETED', errors: [{ field: 'episode' }] },
        { code: 'REFUSED', status: 409, problem: 'EPISODE_DELETED' },
      ]);
      const rows = await runs.retrace.rows(
        `SELECT episode_id, action FROM steps WHERE run_id = '${run.id}' ORDER BY step`,
      );
      expect(rows).toEqual(['before', 'after'].map((action) => ({ episode_id: kept.id, action })));
    },
  );

  it('wait as long as Retry-After says when more is in flight than the server takes', async () => {
    const { url } = runs.api.api;
    const { hostname, port } = new URL(url);
    const run = await runs.start({ name: 'busy' });
    await stored();
    const start = (announcedBytes: number) => {
      const headers = { 'content-type': 'application/json', 'content-length': announcedBytes };
      const path = `/api/runs/${run.id}/records`;
      const sending = request({ hostname, port, method: 'POST', path, headers });
      sending.on('error', () => undefined).flushHeaders();
      return sending;
    };
    // Three bodies that never end fill nearly all of the server's 48 MiB for records.
    const numBytes = 16 * 1024 ** 2 - 65_536;
    const stalled = [1, 2, 3].map(() => start(numBytes + 1));
    for (const sending of stalled) sending.write(Buffer.alloc(numBytes, ' '));
    /** Asks whether another MiB is taken, without sending it; null while the server waits for it. */
    const ask = () =>
      new Promise<IncomingMessage | null>((resolve) => {
        const sending = start(1024 ** 2).on('response', resolve);
        setTimeout(() => {
          resolve(null);
          sending.destroy();
        }, 200);
      });
    let answer: IncomingMessage | null = null;
    while (answer === null) answer = await ask();
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '2']);
    const errors: RetraceError[] = [];
    const client = new Retrace({ url, maxBatchBytes: 8 * 1024 ** 2, onError: (error) => errors.push(error) });
    const episode = client.run(run.id).episode();
    episode.step({ action: 'a'.repeat(6 * 1024 ** 2) });
    const startedAt = performance.now();
    expect(await client.flush({ timeoutMs: 1_000 })).toBe(false);
    expect(errors).toMatchObject([{ code: 'BUSY', status: 429, problem: 'TOO_MANY_RECORDS_IN_FLIGHT' }]);
    for (const sending of stalled) sending.destroy();
    expect(await client.flush()).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    expect(client.stats).toMatchObject({ numRefused: 0, numDropped: 0, numPending: 0 });
    await client.close();
  });
});

describe('reading with the client', () => {
  let run: Run;

  beforeAll(async () => {
    run = await runs.start({ name: 'read' });
    for (let i = 0; i < 25; i++) {
      const episode = run.episode({ split: i % 5 === 0 ? 'validation' : 'train' });
      for (let step = 0; step <= i % 3; step++) {
        const { tokens } = appendToContext([], [i, step], [100 + i]);
        episode.step({ action: `${i}.${step}`, tokens });
      }
      episode.end({ success: i % 2 === 0 });
    }
    run.episode();
    await stored();
  });

  it('gives SQL as an Arrow table, and as objects', async () => {
    const sql = `SELECT split, count() AS n FROM episodes WHERE run_id = '${run.id}' AND sealed GROUP BY split ORDER BY split`;
    const table = await runs.retrace.query(sql);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['split', 'n']);
    expect(table.toArray().map((row) => [row.split as string, Number(row.n)])).toEqual([
      ['train', 20],
      ['validation', 5],
    ]);
    expect(await runs.retrace.rows(sql)).toEqual([
      { split: 'train', n: 20 },
      { split: 'validation', n: 5 },
    ]);
    const cut = runs.retrace.query(`SELECT action FROM steps WHERE run_id = '${run.id}'`, { maxRows: 3 });
    await expect(cut).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('more than 3 rows') as string,
    });
    await expect(runs.retrace.query('SELECT * FROM system.users')).rejects.toMatchObject({
      code: 'REFUSED',
      problem: 'SQL_REFUSED',
    });
  });

  it('gives ended episodes in pages, with the tokens of all their steps', async () => {
    const pages: number[] = [];
    const actions: number[] = [];
    for await (const { episodes, steps } of run.batches({
      numEpisodes: 8,
      where: "split = 'train' -- only these",
    })) {
      pages.push(episodes.numRows);
      const numSteps = Array.from(episodes.getChild('num_steps')!, Number).reduce((sum, n) => sum + n, 0);
      expect(steps.numRows).toBe(numSteps);
      for (const row of steps) actions.push(...Array.from(row.token_ids as Iterable<number>).slice(-1));
    }
    expect(pages).toEqual([8, 8, 4]);
    // Episode i has i mod 3 + 1 steps, each with the token 100 + i.
    const expected = Array.from({ length: 25 }, (_, i) =>
      i % 5 === 0 ? [] : new Array<number>((i % 3) + 1).fill(100 + i),
    );
    expect(actions.sort((a, b) => a - b)).toEqual(expected.flat());
  });

  it('follows a run until it ends', async () => {
    const followed = await runs.start({ name: 'followed' });
    await stored();
    const messages: LiveMessage[] = [];
    const following = (async () => {
      for await (const message of followed.tail()) messages.push(message);
    })();
    await sleep(100);
    followed.end({ reason: 'stopped' });
    await runs.retrace.flush();
    await following;
    expect(messages).toMatchObject([
      { kind: 'run', data: { state: 'started', name: 'followed' } },
      { kind: 'run', data: { state: 'ended', reason: 'stopped' } },
    ]);
  });
});

describe('a bundle of the client for browsers', () => {
  it('imports nothing of Node', async () => {
    const bundled = await build({
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        rollupOptions: { external: ['apache-arrow'] },
        lib: { entry: fileURLToPath(new URL('support/browser-entry.mjs', import.meta.url)), formats: ['es'] },
      },
    });
    const [{ output }] = bundled as { output: { code?: string }[] }[];
    const code = output.map((part) => part.code ?? '').join('\n');
    expect(code).toContain('A browser has no spool');
    expect(code).not.toMatch(/(import|from)\s*\(?["']node:/);
  });
});

describe('a client that is killed', () => {
  it('has each acknowledged record in the store once, and what was in its spool after the next start', async () => {
    const spool = await mkdtemp(join(tmpdir(), 'retrace-killed-'));
    const id = uuidV7();
    const acknowledged = await killWhileRecording(runs.api.api.url, spool, id, 'up');
    const nobody = await unusedUrl();
    expect(await killWhileRecording(nobody, spool, id, 'down')).toBe(0);
    const spooled = await stepsIn(spool);
    expect(numStepsOf('down', spooled)).toBeGreaterThan(100);

    const next = new Retrace({ url: runs.api.api.url, spool });
    expect(await next.flush()).toBe(true);
    await next.close();
    await runs.api.storeHasCaughtUp();
    const steps = await runs.retrace.query(
      `SELECT episodes.external_id AS episode, step FROM steps JOIN episodes USING (run_id, episode_id) WHERE run_id = '${id}'`,
      { maxRows: 500_000 },
    );
    const inStore = steps.toArray().map((row) => [row.episode, row.step].join(' '));
    expect(new Set(inStore).size).toBe(inStore.length);
    expect(spooled.filter((step) => !new Set(inStore).has(step))).toEqual([]);
    const sql = `SELECT count() AS n FROM events WHERE run_id = '${id}' AND kind != 'RunStarted'`;
    const [{ n }] = await runs.retrace.rows(sql);
    expect(acknowledged).toBeGreaterThan(0);
    expect(n).toBeGreaterThanOrEqual(acknowledged - 1);
    // No episode lacks a step before its last one.
    const gaps = `SELECT episode_id FROM steps WHERE run_id = '${id}' GROUP BY episode_id HAVING max(step) + 1 != count()`;
    expect(await runs.retrace.rows(gaps)).toEqual([]);
    expect(await readdir(spool)).toEqual([]);
    await rm(spool, { recursive: true });
  });
});

/** @returns how many records the child had been told are acknowledged when it was killed */
async function killWhileRecording(url: string, spool: string, id: string, prefix: string): Promise<number> {
  const script = new URL('support/recording-child.mjs', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [script, url, spool, id, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  if (prefix === 'up') await expect.poll(() => printed).toContain('\n');
  else await expect.poll(async () => numStepsOf(prefix, await stepsIn(spool))).toBeGreaterThan(100);
  await sleep(100);
  child.kill('SIGKILL');
  await once(child, 'close');
  return Number(printed.trim().split('\n').at(-1));
}

function numStepsOf(prefix: string, steps: readonly string[]): number {
  return steps.filter((step) => step.startsWith(prefix)).length;
}

/** Whole lines of steps in the files of a spool, as `<episode> <step>`. */
async function stepsIn(spool: string): Promise<string[]> {
  const names = (await readdir(spool)).filter((name) => name.endsWith('.ndjson'));
  const texts = await Promise.all(names.map((name) => readFile(join(spool, name), 'utf8').catch(() => '')));
  const externalIds = new Map<string, string>();
  const steps: string[] = [];
  for (const line of texts.flatMap((text) => text.split('\n').slice(0, -1))) {
    const { record } = JSON.parse(line) as {
      record?: { type: string; episode: string; externalId: string; step: number };
    };
    if (record?.type === 'episode') externalIds.set(record.episode, record.externalId);
    if (record?.type === 'step') steps.push(`${externalIds.get(record.episode) ?? '?'} ${record.step}`);
  }
  return steps.filter((step) => !step.startsWith('?'));
}

/** The address of a port on which nobody listens. */
async function unusedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return `http://127.0.0.1:${port}`;
}
