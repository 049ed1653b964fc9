import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import type { EngineRecipe, Recipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { expectSameWhenKilled, KILL_POINTS } from '../engines/killed-worker.js';
import { expectSameUpdates, NUM_UPDATES } from '../engines/same-results.js';
import { newDirectory, smallRecipe, VOCAB_SIZE, Worker, type LentWorkers } from '../engines/torch.js';
import { InProcessRun } from '../support/in-process-run.js';
import { writeTinyModel } from '../support/tiny-model.mjs';
import { verlEnvironment } from '../support/verl-environment.mjs';

const VERL = { backend: 'verl' } as const satisfies Partial<EngineRecipe>;
const NO_CRITIC = [
  ...['loss.valueCoefficient=0', 'advantage={"estimator":"grpo","options":{}}'],
  'collection.groupSize=4',
];
const FEW = [
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.learningRate=0.01'],
  ...['collection.concurrentEpisodes=16', 'collection.groupsPerRound=4', 'collection.groupSize=4'],
];

interface Case {
  readonly recipe: string;
  readonly algorithm?: string;
  readonly settings?: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'GRPO with entropy, a KL to a fixed reference, clipped norms and decay': {
    recipe: 'memory-bandit-grpo',
    algorithm: 'grpo',
    settings: [
      ...['loss.kl.coefficient=0.1', 'loss.entropyCoefficient=0.01'],
      ...['optimizer.maxGradientNorm=0.05', 'optimizer.weightDecay=0.1'],
    ],
  },
  'GRPO in small micro-batches at a temperature': {
    recipe: 'memory-bandit-grpo',
    settings: ['optimizer.maxTokensPerMicroBatch=32', 'collection.temperature=0.8'],
  },
  GiGPO: { recipe: 'frozen-lake-grpo', algorithm: 'gigpo' },
  'decoupled PPO': {
    recipe: 'memory-bandit-grpo',
    settings: ['loss.policyLoss=decoupledPpo', 'loss.policyLossOptions={}'],
  },
  GSPO: { recipe: 'memory-bandit-grpo', algorithm: 'gspo' },
  DPO: { recipe: 'frozen-lake-dpo' },
  imitation: {
    recipe: 'frozen-lake-imitation',
    settings: [
      ...NO_CRITIC,
      ...['imitation.numUpdates=3', 'imitation.numEpisodes=16', 'imitation.episodesPerUpdate=8'],
    ],
  },
};

const environment = await verlEnvironment();
const directory = newDirectory();

describe.skipIf('unavailable' in environment)(
  'unavailable' in environment ? `skipped, because ${environment.unavailable}` : 'with verl',
  () => {
    if ('unavailable' in environment) return;
    const { python } = environment;
    const inVerl = (recipe: Recipe): Recipe => ({ ...recipe, engine: { kind: 'torch', python, ...VERL } });
    const begin = (name: string, recipe: Recipe) => InProcessRun.begin(join(directory, name), recipe);
    const openIn = (worker: Worker, files: CheckpointFiles) =>
      worker.open(smallRecipe('bandit-ppo', { assignments: NO_CRITIC }), files, VOCAB_SIZE, {
        ...worker.section,
        ...VERL,
      });
    beforeAll(async () => {
      await openBackend();
    });
    afterAll(() => {
      rmSync(directory, { recursive: true, force: true });
    });

    describe.each([1, 2])('in processes: %i', (processes) => {
      let pool: LentWorkers;
      beforeAll(async () => {
        pool = await Worker.startLent(2, processes, python);
      });
      afterAll(() => pool.stop());

      describeUpdateEngine(`of verl, processes: ${processes}`, {
        open: () => pool.open((worker) => openIn(worker, new CheckpointFiles(directory))),
        vocabSize: VOCAB_SIZE,
        isDeterministic: true,
        lacks: ['gradients', 'critic', 'movingReference', 'skippedSteps', 'distillation'],
      });

      it('refuses weights that are not finite, and keeps its own', async () => {
        const files = new CheckpointFiles(join(directory, `not-finite-${processes}`));
        const engine = await pool.open((worker) => openIn(worker, files));
        const saved = await engine.save();
        const bytes = Uint8Array.from(await files.read(saved.weights));
        // The last number of the last tensor, of which the last rank has the end.
        new DataView(bytes.buffer).setFloat32(bytes.length - 4, Number.NaN, true);
        const weights = await files.write(bytes);
        await expect(engine.load({ ...saved, weights })).rejects.toThrow('values that are not finite');
        expect((await engine.save()).weights).toEqual(saved.weights);
        await engine.close();
      });

      it.each(Object.entries(CASES))(
        '%s: has the logprobs and, after three updates, the weights of TensorFlow.js',
        async (name, { recipe: base, algorithm, settings = [] }) => {
          const numUpdates = base.includes('imitation') ? 1 : NUM_UPDATES;
          const options = { algorithm, numUpdates, assignments: [...FEW, ...settings] };
          const path = join(directory, `${name.replaceAll(/\W+/g, '-')}-${processes}`);
          await expectSameUpdates(path, smallRecipe(base, options), pool.workers.slice(0, 1), VERL);
        },
      );
    });

    const bandit = (numUpdates: number, ...more: string[]) =>
      smallRecipe('memory-bandit-grpo', { numUpdates, assignments: [...FEW, ...more] });

    it('trains a model of a directory, says so in each commit, and replays', async () => {
      const model = `policy={"model":"${await writeTinyModel(python, 'qwen3')}","maxPositions":64}`;
      const settings = ['model=null', 'context.tokenizer=model', model, ...NO_CRITIC];
      const recipe = smallRecipe('bandit-ppo', { numUpdates: 2, assignments: [...FEW, ...settings] });
      const run = await begin('directory', inVerl(recipe));
      await run.work();
      const [{ engine }] = await run.updates();
      expect(engine).toMatchObject({ kind: 'torch', device: 'cpu', numProcesses: 1 });
      expect(engine?.version).toMatch(/^torch \S+, verl 0\.9\.1 fsdp2$/);
      expect(await run.replay(2)).toMatchObject({ lossDifference: 0, firstDifferingStep: null });
      expect((await run.replay(2, { kind: 'tensorflow' })).lossDifference).toBeLessThan(1e-5);
      await run.close();
    });

    it('takes a run over from TensorFlow.js, with its moments, and gives it back', async () => {
      const recipe = bandit(6);
      const path = join(directory, 'changing');
      let run = await InProcessRun.begin(path, recipe);
      const runId = run.id;
      for (const [until, next] of [
        [2, recipe],
        [4, inVerl(recipe)],
        [6, recipe],
      ] as const) {
        await run.close();
        run = await InProcessRun.reopen(path, next, runId);
        await run.work({ untilUpdate: until });
      }
      const kinds = (await run.updates()).map(({ engine }) => engine?.version.includes('verl'));
      expect(kinds).toEqual([false, false, true, true, false, false]);
      expect(await run.replayAll({ python })).toMatchObject({ numUpdates: 6, differing: [] });
      await run.close();
    });

    it.each(KILL_POINTS)(
      'goes on to the same weights when its worker is killed at the point "%s" of an update',
      async (point) => {
        const run = await expectSameWhenKilled(join(directory, 'kills'), inVerl(bandit(3)), point);
        await run.close();
      },
    );

    it('refuses settings that verl does not know, before anything is trained', async () => {
      const recipe = inVerl(bandit(1));
      const engine = { ...recipe.engine, options: { fsdp_seize: 1 } } as EngineRecipe;
      const run = await begin('refused', { ...recipe, engine });
      await expect(run.work()).rejects.toThrow(/open\.verl\.fsdp_seize is 1; it must be one of fsdp_size/);
      await run.close();
    });
  },
);
