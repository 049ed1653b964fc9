import { openBackend } from '@retrace/compute';
import { listAlgorithms, resolveRecipe } from '@retrace/config';
import { Pcg32, shuffle } from '@retrace/random';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataDirectories } from '../support/cli.mjs';
import { InProcessRun } from '../support/in-process-run.js';

const NUM_UPDATES = 24;
const NUM_REPLAYED = 20;

const SETTINGS = [
  ...['collection.groupsPerRound=8', 'collection.concurrentEpisodes=32', 'optimizer.learningRate=0.003'],
  ...['model.numLayers=1', 'model.hiddenSize=32', 'model.intermediateSize=32'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
  'checkpoint={"weights":{"keepLast":1,"keepBest":0,"keepEvery":8},"keepLast":2,"keepEvery":8}',
];

describe('a run of each algorithm', () => {
  const directories = new DataDirectories();
  beforeAll(async () => {
    await openBackend();
  });
  afterAll(() => {
    directories.removeAll();
  });

  it.each(listAlgorithms().map(({ name }) => name))(
    '%s: 20 random updates and the whole run are replayed bit for bit',
    async (algorithm) => {
      const recipe = resolveRecipe('frozen-lake-grpo', {
        algorithm,
        numUpdates: NUM_UPDATES,
        assignments: SETTINGS,
      });
      const run = await InProcessRun.begin(directories.make(), recipe);
      await run.work();
      const numbers = Int32Array.from({ length: NUM_UPDATES }, (_, n) => n + 1);
      shuffle(numbers, new Pcg32(NUM_UPDATES));
      for (const updateNumber of numbers.subarray(0, NUM_REPLAYED)) {
        expect(await run.replay(updateNumber), `update ${updateNumber}`).toMatchObject({
          ...{ sameWeights: true, lossDifference: 0, firstInexact: null, firstDifferingStep: null },
        });
      }
      expect(await run.replayAll()).toMatchObject({ numUpdates: NUM_UPDATES, differing: [] });
      await run.close();
    },
    1_200_000,
  );
});
