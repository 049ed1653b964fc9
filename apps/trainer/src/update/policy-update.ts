/*
 * One update of the policy, from stored episodes to optimizer steps. Each stage is a file and takes only what its arrows bring:
 *
 *   read batch ─┬─▶ proximal logprobs * ─┬──────────────┬─────────────┬───────────────┐
 *               │                        ▼              ▼             ▼               │
 *               ├─▶ score rewards ──▶ token rewards  corrections ──▶ advantages ──▶ columns ──▶ mini-batches ──▶ optimizer steps *
 *               │                        ▲ KL in the reward           ▲               ▲
 *               ├─▶ reference logprobs * ┴────────────────────────────┼── KL in loss ─┘
 *               └─▶ final values * ───────────────────────────────────┘
 *
 * Those with a star wait for the engine, and scoring may wait for a judge. They run one after the other, since the engine works on
 * one call at a time; and the checks come first, so that a batch which fails one never costs a judge. Around this line,
 * `trainer.ts` reads the episodes before it and commits the result after it.
 */
import { computeTokenAdvantages } from './advantages.js';
import { computeFinalValues } from './final-values.js';
import { nextKlCoefficient } from './kl-coefficient.js';
import { describeLearning } from './learned-tokens.js';
import { makeOptimizerSteps } from './optimizer-steps.js';
import { measured } from './metrics.js';
import { batchMetrics, stepMetrics } from './policy-metrics.js';
import { computeProximalLogprobs } from './proximal-logprobs.js';
import { readBatch } from './read-batch.js';
import { computeReferenceLogprobs } from './reference-logprobs.js';
import { resampleEpisodes } from './resample-episodes.js';
import { rolesOf } from './roles.js';
import { correctRollout } from './rollout-correction.js';
import { scoreRewards } from './score-rewards.js';
import { policySteps } from './step-options.js';
import { actionsOf, countMarked } from './token-columns.js';
import { computeTokenRewards } from './token-rewards.js';
import { readTrainerState, recordTrainerState } from './trainer-state.js';
import { updateColumns } from './update-columns.js';
import type { UpdateInputs } from './update-inputs.js';
import { updateNeeds } from './update-needs.js';
import type { UpdateResult } from './update-result.js';

/**
 * Computes a policy update and makes its optimizer steps.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY` (such data is never trained on), `NO_GREEDY_BASELINE`,
 *   `NON_FINITE_LOSS`
 */
export async function policyUpdate(inputs: UpdateInputs): Promise<UpdateResult> {
  const { plan, columns, texts, recipe, rewards, engine, referenceWeights, recordedRewards } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { advantage, loss, collection } = recipe;
  const { temperature, maxStaleness } = collection;
  const before = readTrainerState(inputs.trainerState);
  const klCoefficient = before.klCoefficient ?? loss.klCoefficient;
  const needs = updateNeeds(recipe, referenceWeights !== null);

  const read = readBatch(columns, { temperature, hasGreedyBaselines: needs.greedyBaseline });
  const { batch, sampled } = read;
  const tokens = { temperature, mask: sampled };
  const proximal = await computeProximalLogprobs(engine, batch, {
    ...tokens,
    needs,
    updateNumber,
    policyVersionIn,
  });
  const unscored = { columns, batch, texts, recordedTotals: recordedRewards };
  const scored = await scoreRewards(rewards, unscored, read);
  const reference = await computeReferenceLogprobs(engine, referenceWeights, batch, tokens);
  const [referenceInReward, referenceLogprobs] = needs.klInReward ? [reference, null] : [null, reference];
  const charge = { proximal: proximal.logprobs, coefficient: klCoefficient, estimator: loss.klEstimator };
  const charged = computeTokenRewards(scored.rewards, read, { ...charge, reference: referenceInReward });
  const trained = actionsOf(batch, scored.episodesToTrain);
  const compared = { batch, trained, proximalLogprobs: proximal.logprobs, policyVersionIn };
  const correction = needs.rolloutCorrection
    ? correctRollout(compared, { rules: loss.rolloutCorrection ?? null, maxStaleness })
    : null;
  const isProximalWhole = needs.proximalLogprobs;
  const finalValues = needs.critic ? await computeFinalValues(engine, batch, read.truncated) : null;
  const roles = needs.roles && texts ? rolesOf(texts, recipe.reward.sourceField, before.roleBaselines) : null;
  const credit = computeTokenAdvantages(
    { columns, read, scored, charged, proximal, isProximalWhole, correction, finalValues, roles },
    { ...advantage, trained, seed },
  );
  const copies = advantage.resampling ? resampleEpisodes(scored, advantage.resampling, seed) : null;
  const sequences = { read, trained, credit, proximal, correction, referenceLogprobs };
  const steps = policySteps(recipe, { updateNumber, seed, klCoefficient });
  const updated = updateColumns(recipe, { ...sequences, policyVersionIn, copies });
  const outcome = await makeOptimizerSteps(engine, updated, steps);

  const meanKl = charged.meanKl ?? outcome.kl;
  const numTrainedEpisodes = countMarked(scored.episodesToTrain);
  const learning = describeLearning(updated, scored);
  return {
    outcome,
    episodeRewards: scored.totals,
    trainerState: recordTrainerState({
      klCoefficient: nextKlCoefficient(klCoefficient, loss.adaptiveKl, { meanKl, numTrainedEpisodes }),
      roleBaselines: { ...before.roleBaselines, ...credit.roleBaselines },
    }),
    warnings: [...credit.warnings, ...(correction?.warnings ?? [])],
    alarm: learning.alarm,
    metrics: measured([
      ...stepMetrics(recipe, { outcome, learningRate: steps.learningRate, klCoefficient }),
      ...batchMetrics({ batch, policyVersionIn, proximal, scored, charged, credit, copies }),
      ...(correction?.metrics ?? []),
      ...learning.metrics,
    ]),
  };
}
