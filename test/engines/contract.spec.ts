import { rmSync } from 'node:fs';
import { openBackend } from '@retrace/compute';
import type { EngineRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { newDirectory, obstacle, smallRecipe, VOCAB_SIZE, Worker, type LentWorkers } from './torch.js';

const variants: Record<
  string,
  { readonly settings: string[]; readonly processes: number; readonly engine?: Partial<EngineRecipe> }
> = {
  'on torch': { settings: [], processes: 1 },
  'on torch, with micro-batches of one sequence': {
    settings: ['optimizer.maxTokensPerMicroBatch=6'],
    processes: 1,
  },
  'on torch, in two processes': { settings: [], processes: 2 },
  'on torch, in two processes that write shards': {
    settings: [],
    processes: 2,
    engine: { shardedCheckpoints: true },
  },
};
for (const [name, { settings, processes, engine }] of Object.entries(variants)) {
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
          worker.open(
            smallRecipe('bandit-ppo', { assignments: settings }),
            new CheckpointFiles(directory),
            VOCAB_SIZE,
            { ...worker.section, ...engine },
          ),
        ),
      vocabSize: VOCAB_SIZE,
      isDeterministic: true,
      lacks: ['gradients'],
    });
  });
}
