/*
 * One update of the policy, from stored episodes to optimizer steps. Each stage is a file and takes only what its arrows bring:
 *
 *   read batch ─┬─▶ proximal logprobs * ─┬──────────────┬─────────────┬───────────────┐
 *               │                        ▼              ▼             ▼               │
 *               ├─▶ score rewards ──▶ token rewards  corrections ──▶ advantages ──▶ columns ──▶ mini-batches ──▶ optimizer steps *
 *               │                        ▲ KL in the reward           ▲               ▲
 *               ├─▶ reference logprobs * ┴────────────────────────────┼── KL in loss ─┘
 *               ├─▶ final values * ───────────────────────────────────┤
 *               └─▶ teacher's logprobs * ─────────────────────────────┘
 *
 * Those with a star wait for the engine, and scoring may wait for a judge. They run one after the other, since the engine works on
 * one call at a time; and the checks come first, so that a batch which fails one never costs a judge. Around this line,
 * `trainer.ts` reads the episodes before it and commits the result after it.
 */
import { computeTokenAdvantages } from './advantages.js';
import { originMetrics } from './batch-origins.js';
import { computeFinalValues } from './final-values.js';
import { groupPriorities } from './group-priorities.js';
import { describeLearning } from './learned-tokens.js';
import { makeOptimizerSteps } from './optimizer-steps.js';
import { batchStatistics } from './batch-statistics.js';
import { openControllers, recordControllers } from './controllers.js';
import { measured } from './metrics.js';
import { batchMetrics, stepMetrics } from './policy-metrics.js';
import { computeProximalLogprobs } from './proximal-logprobs.js';
import { readBatch, type ReadBatch } from './read-batch.js';
import { computeReferenceLogprobs } from './reference-logprobs.js';
import { resampleEpisodes } from './resample-episodes.js';
import { rolesOf } from './roles.js';
import { correctRollout } from './rollout-correction.js';
import { scoreRewards, type ScoredRewards } from './score-rewards.js';
import { policySteps } from './step-options.js';
import { teachTokens } from './teaching.js';
import { actionsOf, countMarked, without } from './token-columns.js';
import { computeTokenRewards } from './token-rewards.js';
import { readTrainerState } from './trainer-state.js';
import { updateColumns } from './update-columns.js';
import type { UpdateInputs } from './update-inputs.js';
import { updateNeeds } from './update-needs.js';
import { tokenResults } from './update-tokens.js';
import type { UpdateResult } from './update-result.js';

/**
 * Computes a policy update and makes its optimizer steps.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY` (such data is never trained on), `NO_GREEDY_BASELINE`,
 *   `NON_FINITE_LOSS`
 */
export async function policyUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, texts, recipe, rewards, engine, recordedRewards } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { advantage, loss } = recipe;
  const { temperature, maxStaleness } = recipe.collection;
  const before = readTrainerState(inputs.trainerState);
  const controllers = openControllers(recipe, before);
  const needs = updateNeeds(recipe, inputs.reference !== null);
  const read = readBatch(columns, { temperature, needs });
  const { batch, sampled: mask } = read;
  const tokens = { temperature, mask };
  const ofUpdate = { ...tokens, comparable: read.comparable, needs, updateNumber, policyVersionIn };
  const proximal = await computeProximalLogprobs(engine, batch, ofUpdate);
  const unscored = { columns, batch, texts, recordedTotals: recordedRewards };
  const scored = await scoreRewards(rewards, unscored, read);
  const reference = await computeReferenceLogprobs(engine, inputs.reference, batch, tokens);
  const [referenceInReward, referenceLogprobs] = needs.klInReward ? [reference, null] : [null, reference];
  const { klCoefficient: coefficient } = controllers;
  const charge = { proximal: proximal.logprobs, coefficient, estimator: loss.klEstimator };
  const charged = computeTokenRewards(scored.rewards, read, { ...charge, reference: referenceInReward });
  const learnedEpisodes = withoutMasked(recipe, scored, read);
  const trained = actionsOf(batch, learnedEpisodes);
  const compared = { batch, trained, proximalLogprobs: proximal.logprobs, policyVersionIn };
  const correction = needs.rolloutCorrection
    ? correctRollout(compared, { rules: loss.rolloutCorrection ?? null, maxStaleness })
    : null;
  const finalValues = needs.critic ? await computeFinalValues(engine, batch, read.bootstrapped) : null;
  const roles = needs.roles && texts ? rolesOf(texts, recipe.reward.sourceField, before.roleBaselines) : null;
  const estimated = computeTokenAdvantages(
    { columns, read, scored, charged, proximal, needs, correction, finalValues, roles },
    { ...advantage, trained, seed },
  );
  const untaught = { estimated, proximal, trained, correction };
  const { credit, teacherLogprobs } = await teachTokens(inputs, read, untaught);
  const copies = advantage.resampling ? resampleEpisodes(scored, advantage.resampling, seed) : null;
  const sequences = { read, trained, credit, proximal, correction, referenceLogprobs };
  const steps = policySteps(recipe, { updateNumber, seed, ...controllers });
  const updated = updateColumns(recipe, { ...sequences, policyVersionIn, copies, plan });
  const outcome = await makeOptimizerSteps(engine, updated, steps);

  const made = { meanKl: charged.meanKl ?? outcome.kl, numTrainedEpisodes: countMarked(learnedEpisodes) };
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

/** [E] The episodes to train, without truncated ones where the recipe leaves those out of the loss. */
function withoutMasked(
  { loss }: Pick<UpdateInputs['recipe'], 'loss'>,
  { episodesToTrain }: Pick<ScoredRewards, 'episodesToTrain'>,
  { truncated }: Pick<ReadBatch, 'truncated'>,
): Uint8Array {
  return loss.maskTruncated ? without(episodesToTrain, truncated) : episodesToTrain;
}
