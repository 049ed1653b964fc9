import type { Recipe } from '@retrace/config';
import { buildTokenBatch, type EpisodeColumns, type Json } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import { selectActions, not, sequenceActionOffsets } from './action-tokens.js';
import { findBroken, findTruncated } from './read-batch.js';
import { measured } from '../metric-entries.js';
import { describeLearning, guardMetrics, outcomeMetrics } from './result/metrics.js';
import { tokenResults, type UpdateResult } from './result/update-result.js';
import { makeOptimizerSteps } from './steps/optimizer-steps.js';
import { NEW_GUARD, StepGuard } from './steps/step-guard.js';
import { imitationSteps } from './steps/step-options.js';
import { readTrainerState, recordTrainerState } from './trainer-state.js';

interface ImitationOptions {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly trainerState: Json;
}

/**
 * Behavior cloning: trains every action token of the demonstrations, except those of episodes whose environment failed. No logprob of the
 * demonstrator is needed.
 */
export async function imitationUpdate(
  engine: UpdateEngine,
  episodes: EpisodeColumns,
  { recipe, seed, trainerState }: ImitationOptions,
): Promise<UpdateResult> {
  const batch = buildTokenBatch(episodes);
  const { tokenIds, sequenceOffsets, actionTokens } = batch;
  const isBroken = findBroken(findTruncated(episodes), batch);
  const before = readTrainerState(trainerState);
  const guard = new StepGuard(recipe.optimizer.guard ?? {}, before.guard ?? NEW_GUARD);
  const steps = imitationSteps(recipe, { seed, guard });
  const columns = {
    ...{ tokenIds, sequenceOffsets, actionTokens },
    sequenceActionOffsets: sequenceActionOffsets(batch),
    sequenceGroups: new Int32Array(sequenceOffsets.length - 1),
    trainedMask: selectActions(batch, not(isBroken)),
    sequenceCopies: null,
    keptMask: null,
  };
  const outcome = await makeOptimizerSteps(engine, columns, steps);
  const { alarm, metrics } = describeLearning(columns, null);
  return {
    outcome,
    ...tokenResults(episodes, batch, { ...columns, copies: null, outcome }),
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
