import { matrixProducts, resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { type NamedTensors } from '@retrace/policy';
import { WorkerPool } from '@retrace/trainer';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { InMemoryLoop } from '../bench/in-memory-loop.mjs';

/** Processes that share an update against one that makes it alone, through the trainer's own update. */
const small = [
  'collection.groupsPerRound=16',
  'collection.concurrentEpisodes=24',
  'optimizer.miniBatchActionTokens=64',
  'optimizer.epochs=2',
];

let pool: WorkerPool | null = null;
const notices: string[] = [];

let backendName: Awaited<ReturnType<typeof openBackend>>['name'];
beforeAll(async () => {
  // As the workers do: products that round otherwise give other bits.
  ({ name: backendName } = await openBackend(matrixProducts(resolveRecipe('frozen-lake-ppo'))));
});
afterEach(async () => {
  await pool?.stop();
  pool = null;
  notices.length = 0;
});

function makeLoop(numShards: number, ...assignments: string[]): InMemoryLoop {
  return new InMemoryLoop(
    resolveRecipe('frozen-lake-ppo', {
      numUpdates: 2,
      assignments: [...small, `optimizer.dataParallel=${numShards}`, ...assignments],
    }),
  );
}

async function startWorkers({ recipe, text, engine }: InMemoryLoop): Promise<WorkerPool> {
  pool = await WorkerPool.start(1, {
    recipe,
    vocabSize: text.tokenizer.vocabSize,
    tokenizerHash: text.tokenizer.hash,
    backend: backendName,
    gpus: [],
    modelHash: engine.modelHash,
    numTrainedValues: engine.numTrainedValues,
    onNotice: (line) => notices.push(line),
  });
  engine.shareWith(pool);
  return pool;
}

/** Two updates on the same episodes; `between` runs before the second. */
async function train(loop: InMemoryLoop, between: () => unknown = () => undefined) {
  const { groupSize, groupsPerRound } = loop.recipe.collection;
  const { columns } = await loop.play({ numGroups: groupsPerRound, groupSize, round: 0 });
  const first = await loop.update(columns, 1);
  await between();
  const second = await loop.update(columns, 1);
  return {
    metrics: [new Map(first.metrics), new Map(second.metrics)],
    weights: await loop.engine.model.exportTensors(),
  };
}

function largestDifference(a: NamedTensors, b: NamedTensors): number {
  let largest = 0;
  expect([...b.keys()]).toEqual([...a.keys()]);
  for (const [name, { data }] of a) {
    const other = b.get(name)!.data;
    data.forEach((value, i) => (largest = Math.max(largest, Math.abs(value - other[i]))));
  }
  return largest;
}

describe('data parallel training', () => {
  it('gives the update of one process in two, to 1e-5, the same bits in a replay, and after a worker was killed', async () => {
    const alone = await train(makeLoop(1));
    const loop = makeLoop(2);
    const { pids } = await startWorkers(loop);
    const shared = await train(loop, () => process.kill(pids[0], 'SIGKILL'));
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/worker 1, process \d+: it was ended by SIGKILL; it is started again/);
    for (const [u, metrics] of alone.metrics.entries()) {
      for (const name of ['train/loss', 'train/entropy', 'train/clipFraction', 'train/approximateKl']) {
        expect(Math.abs(metrics.get(name)! - shared.metrics[u].get(name)!), name).toBeLessThan(1e-5);
      }
    }
    expect(largestDifference(alone.weights, shared.weights)).toBeLessThan(1e-5);
    const replayed = await train(makeLoop(2));
    expect(replayed.metrics).toEqual(shared.metrics);
    expect(largestDifference(replayed.weights, shared.weights)).toBe(0);
  });

  it('lets a loss that ranks the tokens of a batch see all of it', { tags: 'release' }, async () => {
    const [alone, sharded] = [
      await train(makeLoop(1, 'loss.policyLoss=m2po')),
      await train(makeLoop(3, 'loss.policyLoss=m2po')),
    ];
    expect(largestDifference(alone.weights, sharded.weights)).toBeLessThan(1e-5);
  });

  it('says which worker could not start and why, and leaves no process', async () => {
    const loop = makeLoop(2);
    backendName = 'tfjs-node-gpu';
    await expect(startWorkers(loop)).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringMatching(
        /^data parallel worker 1: No backend works: not tfjs-node-gpu/,
      ) as string,
    });
  });
});
