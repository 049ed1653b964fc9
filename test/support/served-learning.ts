import type { EndpointRecipe } from '@retrace/config';
import { expect } from 'vitest';
import type { Figure } from './run-long-spec.mjs';
import {
  measureDistance,
  finalLevel,
  showCurve,
  initialLevel,
  type ServedRun,
  type ServedTraining,
} from './served-training.js';

/** Logprobs of both sides are float32 sums in another order. */
const MAX_DEVIATION = 2e-3;
/** Of two curves, each the mean of two seeds; rewards go from 0.2 to 0.65. */
const MAX_DISTANCE = 0.1;
const SEEDS = [1, 2];

interface ComparedRun extends Pick<ServedRun, 'adapters' | 'numUpdates'> {
  readonly endpoint: EndpointRecipe;
  /** Name and version of the server, as steps have it. */
  readonly engine: string;
  /** Whether runs of two seeds can train through the server at the same time. */
  readonly trainsTogether: boolean;
}

/**
 * Trains through a server with two seeds, each beside a run that samples in the collector. Every stored logprob must be that of the version which
 * its token is marked with, every version must have sampled, and the curves of reward of both kinds must rise and be close.
 *
 * @returns figures for `task.meta.figures`
 */
export async function expectLearnsAsLocal(training: ServedTraining, run: ComparedRun): Promise<Figure[]> {
  const { endpoint, engine, trainsTogether, ...rest } = run;
  const played: { deviation: number; served: number[]; local: number[] }[] = [];
  const play = async (seed: number): Promise<void> => {
    const synchronous = { ...rest, seed, maxStaleness: 0, concurrentEpisodes: 64 };
    const [served, local] = await Promise.all([
      training.train({ ...synchronous, endpoint }),
      training.train({ ...synchronous, endpoint: null }),
    ]);
    const { largest, counts } = await training.checkTokens(served);
    expect([...counts.keys()]).toEqual(Array.from({ length: run.numUpdates }, (_, version) => version));
    const [{ engines, untrainable }] = await training.sql<{ engines: string[]; untrainable: string }>(
      served,
      "SELECT groupUniqArray(engine) AS engines, countIf(untrainable != '') AS untrainable FROM steps",
    );
    expect(engines).toEqual([engine]);
    expect(Number(untrainable)).toBe(0);
    played[SEEDS.indexOf(seed)] = {
      deviation: largest,
      served: await training.rewardsOf(served),
      local: await training.rewardsOf(local),
    };
  };
  if (trainsTogether) await Promise.all(SEEDS.map(play));
  else for (const seed of SEEDS) await play(seed);
  const deviation = Math.max(...played.map((seed) => seed.deviation));
  expect(deviation).toBeLessThan(MAX_DEVIATION);
  const curves = {
    [endpoint.kind]: played.map(({ served }) => served),
    local: played.map(({ local }) => local),
  };
  for (const [name, runs] of Object.entries(curves)) {
    for (const curve of runs) expect(finalLevel(curve), name).toBeGreaterThan(initialLevel(curve) + 0.15);
  }
  const distance = measureDistance(curves[endpoint.kind], curves.local);
  expect(distance).toBeLessThan(MAX_DISTANCE);
  return [
    { name: 'largest difference of a stored logprob', value: deviation, unit: 'nats' },
    { name: 'mean distance of the curves of reward', value: distance },
    ...Object.entries(curves).flatMap(([name, runs]) =>
      runs.map((curve, i) => ({
        name: `${name}, seed ${SEEDS[i]}: reward of every third version`,
        value: showCurve(curve),
      })),
    ),
  ];
}

/**
 * Trains through a server while its weights change in the middle of rounds. Every token must be marked with the version that sampled it: with the
 * weights of the version before, logprobs are others, so a wrong mark would show.
 *
 * @returns the data directory, and figures for `task.meta.figures`
 */
export async function expectMarksVersions(
  training: ServedTraining,
  run: Pick<ServedRun, 'adapters' | 'numUpdates' | 'endpoint'>,
): Promise<{ dataDirectory: string; figures: Figure[] }> {
  // A quarter of a round at once, so that later turns of a round meet newer weights.
  const asynchronous = { concurrentEpisodes: 16, maxStaleness: 1, seed: 3 };
  const dataDirectory = await training.train({ ...run, ...asynchronous });
  const [{ rounds }] = await training.sql<{ rounds: string }>(
    dataDirectory,
    'SELECT countIf(low < high) AS rounds FROM (SELECT round, min(policy_version_min) AS low, max(policy_version_max) AS high FROM groups GROUP BY round)',
  );
  expect(Number(rounds)).toBeGreaterThan(0);
  const { largest, asNeighbour } = await training.checkTokens(dataDirectory);
  expect(largest).toBeLessThan(MAX_DEVIATION);
  expect(asNeighbour).toBeGreaterThan(10 * MAX_DEVIATION);
  const [{ staleness }] = await training.sql<{ staleness: number }>(
    dataDirectory,
    "SELECT max(value) AS staleness FROM metrics WHERE name = 'train/stalenessMax'",
  );
  expect(Number(staleness)).toBeLessThanOrEqual(asynchronous.maxStaleness);
  const figures = [
    { name: `rounds of ${run.numUpdates} with more than one version`, value: Number(rounds) },
    { name: '… largest difference of a stored logprob', value: largest, unit: 'nats' },
    { name: '… with the weights of the version before', value: asNeighbour, unit: 'nats' },
    { name: '… reward of every third version', value: showCurve(await training.rewardsOf(dataDirectory)) },
  ];
  return { dataDirectory, figures };
}
