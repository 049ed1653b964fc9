import { rmSync } from 'node:fs';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { newDirectory, obstacle, smallRecipe, VOCAB_SIZE, Worker } from './torch.js';

const variants = {
  'on torch': { settings: [], processes: 1 },
  'on torch, with micro-batches of one sequence': {
    settings: ['optimizer.maxTokensPerMicroBatch=6'],
    processes: 1,
  },
  'on torch, in two processes': { settings: [], processes: 2 },
};
for (const [name, { settings, processes }] of Object.entries(variants)) {
  describe.skipIf(obstacle !== null)(obstacle ?? 'with torch', () => {
    const directory = newDirectory();
    /** A test has two engines at most. */
    const idle: Worker[] = [];
    const workers: Worker[] = [];
    beforeAll(async () => {
      await openBackend();
      workers.push(await Worker.start(processes), await Worker.start(processes));
      idle.push(...workers);
    });
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      rmSync(directory, { recursive: true, force: true });
    });
    describeUpdateEngine(name, {
      open: async () => {
        const worker = idle.shift();
        if (!worker) throw new Error('both workers are in use');
        const recipe = smallRecipe('bandit-ppo', { assignments: settings });
        const engine = await worker.open(recipe, new CheckpointFiles(directory));
        const close = engine.close.bind(engine);
        engine.close = async () => {
          await close();
          idle.push(worker);
        };
        return engine;
      },
      vocabSize: VOCAB_SIZE,
      isDeterministic: true,
      lacks: ['gradients'],
    });
  });
}
