/**
 * Trains a recipe in one process, without log and store: the peer that the pipeline is measured against, and the quickest way to
 * try a recipe. `--json` prints the throughput only.
 *
 *   node bench/train-in-memory.mjs <recipe> [--updates N] [--seed S] [--backend NAME] [--set key=value]… [--test] [--json]
 */
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { matrixProducts, resolveRecipe } from '@retrace/config';
import { InMemoryLoop } from './in-memory-loop.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    updates: { type: 'string' },
    seed: { type: 'string' },
    backend: { type: 'string' },
    set: { type: 'string', multiple: true },
    test: { type: 'boolean' },
    json: { type: 'boolean' },
  },
});
const recipe = resolveRecipe(positionals[0] ?? 'frozen-lake-ppo', {
  numUpdates: values.updates && Number(values.updates),
  seed: values.seed && Number(values.seed),
  assignments: values.set,
});
const print = values.json ? () => undefined : console.log;
const backend = await openBackend({ ...matrixProducts(recipe), prefer: values.backend && [values.backend] });
print(backend.reason);

const loop = new InMemoryLoop(recipe);
const total = await train();
if (values.json) {
  const { totalMs, updateMs, numSteps } = total;
  const stepsPerSecond = (1000 * numSteps) / totalMs;
  const perUpdateMs = totalMs / (recipe.numUpdates - 1);
  console.log(JSON.stringify({ stepsPerSecond, updateShare: updateMs / totalMs, perUpdateMs }));
}
if (values.test) {
  const { success } = await playGreedily('test', 1000);
  const seconds = ((performance.now() - total.startedAt) / 1000).toFixed(0);
  print(`test of ${recipe.name}, seed ${recipe.seed}: success ${success.toFixed(4)} after ${seconds} s`);
}

/** Makes all updates. The first is not timed, because it pays for what TensorFlow sets up once; neither is the pipeline's. */
async function train() {
  const { groupsPerRound: numGroups, groupSize } = recipe.collection;
  const { everyUpdates } = recipe.evaluation;
  const sums = { startedAt: performance.now(), playMs: 0, updateMs: 0, numSteps: 0 };
  for (let round = 0; round < recipe.numUpdates; round++) {
    const playedAt = performance.now();
    const { success, columns } = await loop.play({ numGroups, groupSize, round });
    const updatedAt = performance.now();
    const { outcome } = await loop.update(columns, round + 1);
    const endedAt = performance.now();
    if (round === 0) {
      sums.startedAt = endedAt;
      continue;
    }
    const times = { playMs: updatedAt - playedAt, updateMs: endedAt - updatedAt };
    sums.playMs += times.playMs;
    sums.updateMs += times.updateMs;
    sums.numSteps += columns.steps.length;
    if (everyUpdates > 0 && (round + 1) % everyUpdates === 0)
      await report(round + 1, { success, outcome, times, sums });
  }
  return { ...sums, totalMs: performance.now() - sums.startedAt };
}

async function report(updateNumber, { success, outcome, times, sums }) {
  const validation = await playGreedily('validation', recipe.evaluation.numValidationEpisodes);
  const seconds = (performance.now() - sums.startedAt) / 1000;
  print(
    [
      `update ${updateNumber} after ${seconds.toFixed(0)} s`,
      `rollout ${success.toFixed(3)}, validation ${validation.success.toFixed(3)}`,
      `entropy ${outcome.entropy.toFixed(3)}, clipped ${outcome.clipFraction.toFixed(3)}`,
      `playing ${Math.round((1000 * sums.numSteps) / sums.playMs)} steps/s`,
      `training ${Math.round((1000 * outcome.numTrainedTokens) / times.updateMs)} tokens/s`,
      `in all ${Math.round(sums.numSteps / seconds)} steps/s`,
      `this update ${Math.round(times.playMs)} + ${Math.round(times.updateMs)} ms`,
    ].join(' · '),
  );
}

function playGreedily(split, numGroups) {
  return loop.play({ split, numGroups, groupSize: 1, round: -2, greedy: true });
}
