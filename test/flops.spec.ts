import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { expect, it } from 'vitest';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

it('each update of a run records its FLOP/s, and their share of the stated peak', async () => {
  await openBackend();
  const directory = makeDataDirectory();
  const assignments = ['collection.groupsPerRound=16', 'evaluation.everyUpdates=0'];
  const engine = 'engine={"kind":"tensorflow","peakFlops":5e11}';
  const recipe = resolveRecipe('bandit-ppo', { numUpdates: 2, assignments: [...assignments, engine] });
  const run = await InProcessRun.begin(`${directory.path}/run`, recipe);
  try {
    await run.work();
    const updates = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'MetricsLogged' && event.payload.source === 'trainer'
        ? [new Map(event.payload.names.map((name, i) => [name, event.payload.values[i]]))]
        : [],
    );
    expect(updates).toHaveLength(2);
    // The layers' matrices, without the embedding and the output head.
    const { hiddenSize, headDim, numHeads, numKeyValueHeads, intermediateSize, numLayers } = recipe.model!;
    const perLayer = 3 * intermediateSize + 2 * headDim * (numHeads + numKeyValueHeads);
    const numWeights = numLayers * hiddenSize * perLayer;
    for (const metrics of updates) {
      const perSecond = metrics.get('perf/flopsPerSecond')!;
      // The tokens are those of the same gradients, over the seconds of the whole update.
      expect(perSecond).toBeGreaterThan(6 * numWeights * metrics.get('train/tokensPerSecond')!);
      expect(metrics.get('perf/mfu')).toBeCloseTo(perSecond / 5e11, 12);
    }
  } finally {
    await run.close();
    directory.remove();
  }
}, 300_000);
