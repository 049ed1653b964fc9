import type { Recipe } from '@retrace/config';
import { buildTokenBatch, type EpisodeColumns, type Json } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import { describeLearning } from './learned-tokens.js';
import { guardMetrics, measured, outcomeMetrics } from './metrics.js';
import { makeOptimizerSteps } from './optimizer-steps.js';
import { findBroken, findTruncated } from './read-batch.js';
import { imitationSteps } from './step-options.js';
import { NEW_GUARD, StepGuard } from './step-guard.js';
import { readTrainerState, recordTrainerState } from './trainer-state.js';
import { actionsOf, not } from './token-columns.js';
import { tokenResults } from './update-tokens.js';
import type { UpdateResult } from './update-result.js';

/**
 * Behavior cloning: trains every action token of the demonstrations, except those of episodes whose environment failed. No logprob of the
 * demonstrator is needed.
 */
export async function imitationUpdate(
  engine: UpdateEngine,
  columns: EpisodeColumns,
  {
    recipe,
    seed,
    trainerState,
  }: { readonly recipe: Recipe; readonly seed: number; readonly trainerState: Json },
): Promise<UpdateResult> {
  const batch = buildTokenBatch(columns);
  const { tokenIds, sequenceOffsets } = batch;
  const isBroken = findBroken(findTruncated(columns), batch);
  const before = readTrainerState(trainerState);
  const guard = new StepGuard(recipe.optimizer.guard ?? {}, before.guard ?? NEW_GUARD);
  const steps = imitationSteps(recipe, { seed, guard });
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
    ...tokenResults(columns, batch, { ...sequences, copies: null, outcome }),
    episodeRewards: null,
    groupPriorities: null,
    trainerState: recordTrainerState({ ...before, guard: recipe.optimizer.guard ? guard.state : null }),
    warnings: guard.warnings,
    alarm,
    metrics: measured([
      ...outcomeMetrics(outcome, steps.learningRate),
      ...guardMetrics(recipe, guard),
      ...metrics,
    ]),
  };
}
