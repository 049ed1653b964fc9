/*
 * One update of the policy, from stored episodes to optimizer steps:
 *
 *   prepare (prepare-update.ts: every stage up to the columns of the loss) ──▶ mini-batches ──▶ optimizer steps
 *
 * Around this line, `trainer.ts` reads the episodes before it and commits the result after it.
 */
import { countMarked } from './action-tokens.js';
import { imitationUpdate } from './imitation-update.js';
import { moveReference } from './logprobs.js';
import { preferenceUpdate } from './preference-update.js';
import { prepareUpdate } from './prepare-update.js';
import { batchStatistics } from './result/batch-statistics.js';
import { groupPriorities } from './result/group-priorities.js';
import { measured } from '../metric-entries.js';
import { batchMetrics, describeLearning, originMetrics, stepMetrics } from './result/metrics.js';
import { tokenResults, type UpdateResult } from './result/update-result.js';
import { makeOptimizerSteps } from './steps/optimizer-steps.js';
import { policySteps } from './steps/step-options.js';
import { recordControllers } from './trainer-state.js';
import type { UpdateInputs } from './update-inputs.js';

/** Computes one planned update: a pure function of plan, batch, recipe and the state of the engine before it. */
export async function computeUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, recipe, engine, trainerState } = inputs;
  if (plan.stage === 'imitation')
    return imitationUpdate(engine, columns, { recipe, seed: plan.seed, trainerState });
  const result = await (recipe.preference
    ? preferenceUpdate(inputs, recipe.preference)
    : policyUpdate(inputs));
  await moveReference(engine, inputs.reference);
  return result;
}

/**
 * Computes a policy update and makes its optimizer steps.
 *
 * @throws TrainerError as `prepareUpdate`; `NON_FINITE_LOSS`
 */
async function policyUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns: episodes, recipe, engine } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const prepared = await prepareUpdate(inputs);
  const { before, controllers, batch, scored, rewardsWithKl, advantages, columns, copies } = prepared;
  const steps = policySteps(recipe, { updateNumber, seed, ...controllers });
  const outcome = await makeOptimizerSteps(engine, columns, steps);

  const learning = describeLearning(columns, scored);
  const after = {
    meanKl: rewardsWithKl.meanKl ?? outcome.kl,
    numTrainedEpisodes: countMarked(prepared.trainedEpisodes),
    entropy: outcome.entropy,
    roleBaselines: advantages.roleBaselines,
  };
  return {
    outcome,
    ...tokenResults(episodes, batch.tokens, {
      ...columns,
      ...{ copies, outcome, kls: rewardsWithKl.kls, teacherLogprobs: prepared.teacherLogprobs },
      teacherTop: prepared.teacherTop,
    }),
    episodeRewards: scored.totals,
    groupPriorities: groupPriorities(recipe, { plan, ...prepared }),
    trainerState: recordControllers(recipe, controllers, { before, ...after }),
    warnings: [
      ...advantages.warnings,
      ...(prepared.correction?.warnings ?? []),
      ...controllers.guard.warnings,
    ],
    alarm: learning.alarm,
    metrics: measured([
      ...stepMetrics(recipe, { outcome, learningRate: steps.learningRate, ...controllers }),
      ...batchMetrics({ ...prepared, policyVersionIn }),
      ...(prepared.correction?.metrics ?? []),
      ...learning.metrics,
      ...batchStatistics({ ...prepared, episodes, recipe }),
      ...originMetrics(plan),
    ]),
  };
}
