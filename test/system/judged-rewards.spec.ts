import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolveRecipe } from '@retrace/config';
import { newRunId } from '@retrace/trajectory';
import { catchUp } from '@retrace/store';
import { appendEvents } from '@retrace/log/testing';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startJudgeServer,
  type JudgeServer,
} from '../../libs/rewards/src/scoring/judge/judge-server.fixture.js';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';

const verdict = (score: number) => JSON.stringify({ rationale: 'seen', score });

describe('two processes that score one run at the same time', () => {
  const numEpisodes = 12;
  let store: Awaited<ReturnType<typeof openStoreFixture>>;
  let runId = '';

  beforeAll(async () => {
    store = await openStoreFixture();
    runId = newRunId();
    await appendEvents(store.log, [controlEvent({ logId: store.log.logId, runId }, 'RunStarted')]);
    for (let ordinal = 0; ordinal < numEpisodes; ordinal++) {
      const step = () => ({ action: `act ${ordinal}` });
      await appendEvents(store.log, episodeEvents({ logId: store.log.logId, runId, ordinal, step }));
    }
    await catchUp(store.log, store.client);
  });
  afterAll(() => store.close());

  /** A judge that answers nobody before both have asked everything, and never the same twice. */
  async function askTogether(): Promise<JudgeServer> {
    let answer: () => void = () => undefined;
    const allAsked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    return startJudgeServer(async (n) => {
      if (n + 1 === 2 * numEpisodes) answer();
      await allAsked;
      return { content: verdict((n + 1) / 1000) };
    });
  }

  async function score(endpoint: string, instructions: string) {
    const request = {
      storeUrl: store.url,
      logPath: join(store.directory, 'log'),
      runId,
      endpoint,
      instructions,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(root, 'test', 'support', 'score-process.mjs'),
      JSON.stringify(request),
    ]);
    return JSON.parse(stdout) as { totals: number[]; usage: { numRequests: number; numReused: number } };
  }

  it('come to the same rewards where they ask the same: the verdict that the log has first', async () => {
    const server = await askTogether();
    const [a, b] = await Promise.all([score(server.endpoint, 'same'), score(server.endpoint, 'same')]);
    expect(a.usage.numRequests + b.usage.numRequests).toBe(2 * numEpisodes);
    expect(a.totals).toHaveLength(numEpisodes);
    expect(a.totals).toEqual(b.totals);
    await catchUp(store.log, store.client);
    const kept = await store.client.queryRows<{ num: number }>(
      `SELECT toUInt32(count()) AS num FROM reward_assignments WHERE run_id = {runId:String}`,
      { params: { runId } },
    );
    expect(kept).toEqual([{ num: 2 * numEpisodes }]);
    // And so does one that comes later, without the judge.
    await server.close();
    await store.client.command('DELETE FROM reward_scores WHERE run_id = {runId:String}', {
      params: { runId },
    });
    const later = await score(server.endpoint, 'same');
    expect(later.usage).toMatchObject({ numRequests: 0, numReused: numEpisodes });
    expect(later.totals).toEqual(a.totals);
  });

  it('lose no verdict to each other where they ask different questions', async () => {
    const server = await askTogether();
    const wanted = ['be mild', 'be strict'];
    const before = await Promise.all(wanted.map((instructions) => score(server.endpoint, instructions)));
    await server.close();
    await catchUp(store.log, store.client);
    await store.client.command('DELETE FROM reward_scores WHERE run_id = {runId:String}', {
      params: { runId },
    });
    for (const [i, instructions] of wanted.entries()) {
      const { totals, usage } = await score(server.endpoint, instructions);
      expect(usage).toMatchObject({ numRequests: 0, numReused: numEpisodes });
      expect(totals).toEqual(before[i].totals);
    }
  });
});

describe('training with a judge that answers only in part', () => {
  const directory = makeDataDirectory();
  const data = ['--data-dir', join(directory.path, 'data')];
  let isWhole = false;
  let server: JudgeServer;
  let store: ReturnType<typeof startRetrace> | undefined;

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, ...data, '--json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as T;
  }

  beforeAll(async () => {
    // About one arm it talks nonsense until it is mended, so that those episodes have no reward.
    server = await startJudgeServer((_, question) =>
      question.includes('"phoenix"')
        ? { content: isWhole ? verdict(0.25) : 'no idea' }
        : { content: verdict(1) },
    );
  });
  afterAll(async () => {
    await store?.stop('SIGTERM');
    await server.close();
    directory.remove();
  });

  it('replays its updates exactly after the verdicts that it missed were given', async () => {
    const recipe = resolveRecipe('bandit-ppo');
    const options = { model: 'grader', endpoint: server.endpoint, maxRetries: 0 };
    const components = [{ reward: 'environment' }, { reward: 'judge', options }];
    const file = join(directory.path, 'judged.json');
    writeFileSync(file, JSON.stringify({ ...recipe, reward: { ...recipe.reward, components } }));
    const trained = await runRetrace([
      ...['train', '--recipe', file, '--updates', '2', '--set', 'collection.groupsPerRound=16'],
      ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0', ...data],
    ]);
    expect(trained.code, trained.stderr).toBe(0);
    // One store for the commands that follow: it is what takes the time.
    store = startRetrace(['store', '--port', '0', ...data]);
    await store.waitFor(/store at (http:\S+);/);
    const [{ missing, all }] = await json<{ missing: number; all: number }[]>(
      'sql',
      `SELECT metrics['train/numMissingRewards'] AS missing, metrics['train/numEpisodes'] AS all
       FROM updates WHERE update_number = 1`,
    );
    expect(missing).toBeGreaterThan(0);
    expect(missing).toBeLessThan(all);

    isWhole = true;
    expect(await json('score', '--name', 'mended')).toMatchObject({ numWithoutTotal: 0 });
    for (const update of ['1', '2']) {
      expect(await json('replay', '--update', update)).toMatchObject({
        isReproduced: true,
        sameWeights: true,
        lossDifference: 0,
      });
    }
  });
});
