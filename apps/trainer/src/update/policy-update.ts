/*
 * One update of the policy, from stored episodes to optimizer steps:
 *
 *   prepare (prepare-update.ts: every stage up to the columns of the loss) ──▶ mini-batches ──▶ optimizer steps
 *
 * Around this line, `trainer.ts` reads the episodes before it and commits the result after it.
 */
import { originMetrics } from './batch-origins.js';
import { batchStatistics } from './batch-statistics.js';
import { recordControllers } from './controllers.js';
import { groupPriorities } from './group-priorities.js';
import { describeLearning } from './learned-tokens.js';
import { measured } from './metrics.js';
import { makeOptimizerSteps } from './optimizer-steps.js';
import { batchMetrics, stepMetrics } from './policy-metrics.js';
import { prepareUpdate } from './prepare-update.js';
import { policySteps } from './step-options.js';
import { countMarked } from './token-columns.js';
import type { UpdateInputs } from './update-inputs.js';
import type { UpdateResult } from './update-result.js';
import { tokenResults } from './update-tokens.js';

/**
 * Computes a policy update and makes its optimizer steps.
 *
 * @throws TrainerError as `prepareUpdate`; `NON_FINITE_LOSS`
 */
export async function policyUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, recipe, engine } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const prepared = await prepareUpdate(inputs);
  const { before, controllers, read, proximal, scored, charged, trained, correction } = prepared;
  const { finalValues, credit, teacherLogprobs, copies, columns: updated } = prepared;
  const { batch } = read;
  const steps = policySteps(recipe, { updateNumber, seed, ...controllers });
  const outcome = await makeOptimizerSteps(engine, updated, steps);

  const numTrainedEpisodes = countMarked(prepared.learnedEpisodes);
  const made = { meanKl: charged.meanKl ?? outcome.kl, numTrainedEpisodes };
  const after = { ...credit, ...made, before, entropy: outcome.entropy };
  const learning = describeLearning(updated, scored);
  return {
    outcome,
    ...tokenResults(columns, batch, { ...updated, copies, outcome, charged, teacherLogprobs }),
    episodeRewards: scored.totals,
    groupPriorities: groupPriorities(recipe, { plan, read, trained, credit, charged, proximal, finalValues }),
    trainerState: recordControllers(recipe, controllers, after),
    warnings: [...credit.warnings, ...(correction?.warnings ?? []), ...controllers.guard.warnings],
    alarm: learning.alarm,
    metrics: measured([
      ...stepMetrics(recipe, { outcome, learningRate: steps.learningRate, ...controllers }),
      ...batchMetrics({ batch, policyVersionIn, proximal, scored, charged, credit, copies }),
      ...(correction?.metrics ?? []),
      ...learning.metrics,
      ...batchStatistics({ columns, batch, scored, credit, proximal, recipe }),
      ...originMetrics(plan),
    ]),
  };
}
