import { rmSync } from 'node:fs';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { newDirectory, obstacle, smallRecipe, VOCAB_SIZE, Worker, type LentWorkers } from './torch.js';

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
    let pool: LentWorkers;
    beforeAll(async () => {
      await openBackend();
      // A test has two engines at most.
      pool = await Worker.startLent(2, processes);
    });
    afterAll(async () => {
      await pool.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    describeUpdateEngine(name, {
      open: () =>
        pool.open((worker) =>
          worker.open(smallRecipe('bandit-ppo', { assignments: settings }), new CheckpointFiles(directory)),
        ),
      vocabSize: VOCAB_SIZE,
      isDeterministic: true,
      lacks: ['gradients'],
    });
  });
}
