import type { Recipe } from '@retrace/config';
import { buildTokenBatch, type EpisodeColumns } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import { describeLearning } from './learned-tokens.js';
import { measured, outcomeMetrics } from './metrics.js';
import { makeOptimizerSteps } from './optimizer-steps.js';
import { findBroken, findTruncated } from './read-batch.js';
import { imitationSteps } from './step-options.js';
import { actionsOf, not } from './token-columns.js';
import type { UpdateResult } from './update-result.js';

/**
 * Behavior cloning: trains every action token of the demonstrations, except those of episodes whose environment failed. No logprob of the
 * demonstrator is needed.
 */
export async function imitationUpdate(
  engine: UpdateEngine,
  columns: EpisodeColumns,
  { recipe, seed }: { readonly recipe: Recipe; readonly seed: number },
): Promise<Omit<UpdateResult, 'trainerState'>> {
  const batch = buildTokenBatch(columns);
  const { tokenIds, sequenceOffsets } = batch;
  const isBroken = findBroken(findTruncated(columns), batch);
  const steps = imitationSteps(recipe, seed);
  const sequences = {
    tokenIds,
    sequenceOffsets,
    sequenceGroups: new Int32Array(sequenceOffsets.length - 1),
    trainedMask: actionsOf(batch, not(isBroken)),
    sequenceCopies: null,
    keptMask: null,
  };
  const outcome = await makeOptimizerSteps(engine, sequences, steps);
  const { alarm, metrics } = describeLearning(sequences, null);
  return {
    outcome,
    episodeRewards: null,
    warnings: [],
    alarm,
    metrics: measured([...outcomeMetrics(outcome, steps.learningRate), ...metrics]),
  };
}
