import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import type { Recipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InProcessRun } from '../support/in-process-run.js';
import { expectSameWhenKilled, KILL_POINTS } from './killed-worker.js';
import { killAll, workersBelow } from './processes.js';
import { newDirectory, obstacle, onTorch, PYTHON, smallRecipe, Worker } from './torch.js';

/* Whole runs whose trainer has its gradients made by a worker: what is committed, resumed, replayed and lost. */

const directory = newDirectory();

function banditRecipe(numUpdates: number): Recipe {
  return smallRecipe('bandit-ppo', {
    numUpdates,
    assignments: [
      ...['collection.groupsPerRound=32', 'collection.concurrentEpisodes=32', 'optimizer.learningRate=0.01'],
      ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
    ],
  });
}

describe.skipIf(obstacle !== null)(obstacle ?? 'a run on the torch engine', () => {
  beforeAll(async () => {
    await openBackend();
  });
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const begin = (name: string, recipe: Recipe) => InProcessRun.begin(join(directory, name), recipe);
  const weightsOf = async (run: InProcessRun) => (await run.updates()).map(({ weights }) => weights.sha256);

  it('begins with the weights of TensorFlow.js, names its engine in each commit, and replays bit for bit', async () => {
    const plain = await begin('plain', banditRecipe(2));
    await plain.work();
    const run = await begin('torch', onTorch(banditRecipe(2)));
    await run.work();
    const [first, ofPlain] = await Promise.all(
      [run, plain].map(async (each) => (await each.folded()).run.policies.get(0)),
    );
    expect(first?.weights).toEqual(ofPlain?.weights);
    expect(first?.modelHash).toBe(ofPlain?.modelHash);
    const updates = await run.updates();
    expect(updates.map(({ engine }) => engine?.kind)).toEqual(['torch', 'torch']);
    expect(updates[0].engine).toMatchObject({ device: 'cpu', numProcesses: 1, precision: 'float32' });
    expect((await plain.updates()).map(({ engine }) => engine?.kind)).toEqual(['tensorflow', 'tensorflow']);
    expect(await run.replay(2)).toMatchObject({ sameWeights: true, lossDifference: 0 });
    expect(await run.replayAll()).toMatchObject({ numUpdates: 2, differing: [] });
    const elsewhere = await run.replay(2, { kind: 'tensorflow' });
    expect(elsewhere.lossDifference).toBeLessThan(1e-5);
    expect(elsewhere.firstDifferingStep).not.toBeNull();
    await run.close();
    await plain.close();
  });

  it('changes engines between two updates, to torch and back, and replays each on the engine that it had', async () => {
    const recipe = banditRecipe(6);
    const path = join(directory, 'changing');
    let run = await InProcessRun.begin(path, recipe);
    const runId = run.id;
    for (const [until, next] of [
      [2, recipe],
      [4, onTorch(recipe)],
      [6, recipe],
    ] as const) {
      await run.close();
      run = await InProcessRun.reopen(path, next, runId);
      await run.work({ untilUpdate: until });
    }
    expect((await run.updates()).map(({ engine }) => engine?.kind)).toEqual([
      ...['tensorflow', 'tensorflow', 'torch', 'torch', 'tensorflow', 'tensorflow'],
    ]);
    expect(await run.replayAll({ python: PYTHON })).toMatchObject({ numUpdates: 6, differing: [] });
    const plain = await begin('unchanging', recipe);
    await plain.work();
    const [ofRun, ofPlain] = await Promise.all([run, plain].map(returnsOf));
    expect(Math.abs(ofRun - ofPlain)).toBeLessThan(0.15);
    await run.close();
    await plain.close();
  });

  it('changes between whole checkpoints and shards, and replays each in the form that it had', async () => {
    const recipe = banditRecipe(5);
    const onTwo = onTorch(recipe, 2);
    const path = join(directory, 'sharded');
    let run = await InProcessRun.begin(path, recipe);
    const runId = run.id;
    for (const [until, next] of [
      [1, recipe],
      [2, onTwo],
      [4, { ...onTwo, engine: { ...onTwo.engine, kind: 'torch', shardedCheckpoints: true } }],
      [5, recipe],
    ] as const) {
      await run.close();
      run = await InProcessRun.reopen(path, next, runId);
      await run.work({ untilUpdate: until });
    }
    const files = new CheckpointFiles(join(path, 'checkpoints'));
    const checkpointsOf = await Promise.all(
      (await run.updates()).map(({ weights }) => files.filesOf(weights)),
    );
    expect(checkpointsOf.map(({ length }) => length)).toEqual([1, 1, 3, 3, 1]);
    // Shards of optimizer states that are not kept went with their indexes.
    const present = new Set((await files.list()).map(({ sha256 }) => sha256));
    const [first] = (await run.folded()).run.policies.all();
    const kept = [
      first?.weights,
      ...(await run.updates()).flatMap(({ weights, optimizer }) => [weights, optimizer]),
    ];
    const named = kept.filter((ref) => ref !== undefined).filter(({ sha256 }) => present.has(sha256));
    const namedFiles = (await Promise.all(named.map((ref) => files.filesOf(ref)))).flat();
    expect(present).toEqual(new Set(namedFiles.map(({ sha256 }) => sha256)));
    expect(named.length).toBeLessThan(kept.length);
    expect(await run.replayAll({ python: PYTHON })).toMatchObject({ numUpdates: 5, differing: [] });
    await run.close();
  });

  it('compares what another number of processes stored by its tensors', async () => {
    const onTwo = onTorch(banditRecipe(1), 2);
    const recipe: Recipe = { ...onTwo, engine: { ...onTwo.engine, kind: 'torch', shardedCheckpoints: true } };
    const run = await begin('sharded-start', recipe);
    await run.work();
    const { differing } = await run.replayAll({ kind: 'tensorflow' });
    // The first policy is the same, one update differs by rounding.
    expect(differing.map(({ policyVersion }) => policyVersion)).toEqual([1]);
    await run.close();
  });

  it.each(KILL_POINTS)(
    'goes on to the same weights when its worker is killed at the point "%s" of an update',
    async (point) => {
      const run = await expectSameWhenKilled(directory, onTorch(banditRecipe(3)), point);
      const { run: folded, refused } = await run.folded();
      expect(folded.updates.numUpdates).toBe(3);
      expect(refused).toEqual([]);
      const [warning] = (await run.warnings()).map(({ message }) => message);
      expect(warning).toMatch(/engine.*starting it again from the last commit, to make update [23] again/);
      await run.close();
    },
  );

  it('waits for a worker that others start again', async () => {
    const worker = await Worker.start();
    const recipe = { ...banditRecipe(3), engine: worker.section };
    const whole = await begin('whole-url', recipe);
    await whole.work();
    const run = await begin('restarted', recipe);
    const restarts: Promise<void>[] = [];
    await run.work({
      onPoint: (point, updateNumber) => {
        if (point !== 'planned' || updateNumber !== 2) return;
        killAll(workersBelow(process.pid));
        restarts.push(worker.restart());
      },
    });
    await Promise.all(restarts);
    expect(await weightsOf(run)).toEqual(await weightsOf(whole));
    await worker.stop();
    await run.close();
    await whole.close();
  });
});

/** Mean reward of the last update's episodes. */
async function returnsOf(run: InProcessRun): Promise<number> {
  const rewards = (await run.updates()).at(-1)?.episodeRewards ?? new Float64Array(0);
  return rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}
