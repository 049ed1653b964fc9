import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAlgorithms } from '@retrace/config';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';

/* Every name of `--algorithm`, trained by the command for a few updates on small lakes; then an update of each is replayed. */

const NUM_UPDATES = 3;
const EPISODES_PER_UPDATE = 64;
const small = [
  ...['collection.concurrentEpisodes=64', 'optimizer.learningRate=0.003', 'optimizer.epochs=2'],
  ...['optimizer.miniBatchActionTokens=128', 'model.numLayers=1', 'model.hiddenSize=16'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
];
const groupSizes: Readonly<Record<string, number>> = {
  ...{ grpo: 8, 'dr-grpo': 8, dapo: 8, gspo: 8, cispo: 8, rloo: 8, gigpo: 8, 'best-of-n': 8 },
  // Of a group the best and the worst are trained on.
  dpo: 4,
};
const groupSizeOf = (algorithm: string) => groupSizes[algorithm] ?? 1;
const names = listAlgorithms().map(({ name }) => name);
const data = makeDataDirectory();

afterAll(() => {
  data.remove();
});

/** Runs a command whose output is one JSON value. */
async function json(...command: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runRetrace(['--data-dir', data.path, '--json', ...command]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe.each(names)('retrace train --algorithm %s', (algorithm) => {
  let run: { runId: string; reason: string; numLearningUpdates: number; metrics: Record<string, number> };

  beforeAll(async () => {
    // Of larger groups fewer make a round of as many episodes.
    const settings = [...small, `collection.groupsPerRound=${EPISODES_PER_UPDATE / groupSizeOf(algorithm)}`];
    const options = ['--recipe', 'frozen-lake-ppo', '--updates', String(NUM_UPDATES)];
    const sets = settings.flatMap((setting) => ['--set', setting]);
    run = (await json('train', '--algorithm', algorithm, ...options, ...sets)) as typeof run;
  }, 600_000);

  it('trains the default recipe to its end, and learns in every update', () => {
    expect(run).toMatchObject({ reason: 'finished', numLearningUpdates: NUM_UPDATES });
    expect(Number.isFinite(run.metrics['train/loss'])).toBe(true);
  });

  it('makes updates that can be replayed', async () => {
    expect(await json('replay', '--run', run.runId, '--update', 'latest')).toMatchObject({
      isReproduced: true,
    });
  }, 600_000);
});

it('plays groups for the algorithms that compare episodes, and publishes new weights after each update', async () => {
  const rows = (await json(
    'sql',
    `SELECT run_id, recipe, size, num, weights FROM runs
     INNER JOIN (SELECT run_id, count() / uniqExact(group_id) AS size, count() AS num FROM episodes GROUP BY run_id) AS e USING run_id
     INNER JOIN (SELECT run_id, uniqExact(weights_sha256) AS weights FROM policies GROUP BY run_id) AS p USING run_id
     ORDER BY run_id`,
  )) as Record<'size' | 'num' | 'weights' | 'recipe', string>[];
  expect(rows).toHaveLength(names.length);
  for (const [i, { size, num, weights, recipe }] of rows.entries()) {
    const algorithm = names[i];
    expect([algorithm, Number(size)]).toEqual([algorithm, groupSizeOf(algorithm)]);
    expect([algorithm, Number(weights)]).toEqual([algorithm, NUM_UPDATES + 1]);
    // Stale rounds may be thrown away, and dapo replaces groups of equal rewards.
    const mayPlayMore = algorithm === 'dapo';
    const playsMore = Number(num) > NUM_UPDATES * EPISODES_PER_UPDATE;
    const isStale =
      (JSON.parse(recipe) as { collection: { maxStaleness: number } }).collection.maxStaleness > 0;
    if (!isStale && !mayPlayMore) expect([algorithm, playsMore]).toEqual([algorithm, false]);
  }
}, 600_000);
