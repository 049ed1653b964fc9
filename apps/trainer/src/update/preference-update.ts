/*
 * One update by preference, from stored episodes to optimizer steps:
 *
 *   read batch ──▶ on-policy check * ──▶ score rewards ──▶ pairs ──▶ reference logprobs * ──▶ mini-batches of pairs ──▶ optimizer steps *
 *
 * Those with a star wait for the engine.
 */
import { preferencePairs, type PreferencePairs } from '@retrace/algorithms';
import type { PreferenceRecipe } from '@retrace/config';
import { LEARNED_TOKENS_METRIC } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import { selectActions, countMarked, not } from './action-tokens.js';
import { computeProximalLogprobs, computeReferenceLogprobs } from './logprobs.js';
import { readBatch } from './read-batch.js';
import { measured, type MetricEntries } from '../metric-entries.js';
import { batchMetrics, stepMetrics } from './result/metrics.js';
import { tokenResults, type UpdateResult } from './result/update-result.js';
import { scoreRewards } from './rewards.js';
import { makePreferenceSteps, type PreferenceOutcome } from './steps/preference-steps.js';
import { preferenceSteps } from './steps/step-options.js';
import type { UpdateInputs } from './update-inputs.js';

const NEEDS = {
  ...{ greedyBaseline: false, behaviorLogprobs: true, finalValues: false },
  ...{ proximalLogprobs: false, squaredProbabilities: false },
};

/**
 * Computes an update of the policy from the pairs that its groups give, and makes its optimizer steps; none without a pair.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY` (such data is never trained on), `NO_REFERENCE`, `NON_FINITE_LOSS`
 */
export async function preferenceUpdate(
  inputs: UpdateInputs,
  preference: PreferenceRecipe,
): Promise<UpdateResult> {
  const { plan, columns, texts, recipe, rewards, engine, recordedRewards: recordedTotals } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { temperature } = recipe.collection;
  const reference = requireReference(inputs);
  const batch = readBatch(columns, { temperature, needs: NEEDS });
  const { tokens, groupIds } = batch;
  const checked = { temperature, needs: NEEDS, updateNumber, policyVersionIn };
  const proximal = await computeProximalLogprobs(engine, batch, checked);
  const scored = await scoreRewards(rewards, batch, { columns, texts, recordedTotals });
  const excluded = not(scored.episodesToTrain);
  const pairs = preferencePairs({ returns: scored.totals, groupIds, excluded });
  const trained = selectActions(tokens, maskMembers(pairs, groupIds.length));
  const referenceLogprobs = await computeReferenceLogprobs(engine, reference, tokens, {
    temperature,
    mask: trained,
  });
  const steps = preferenceSteps(recipe, { updateNumber, seed, preference });
  const paired = { batch: tokens, trained, referenceLogprobs, pairs };
  const outcome = await makePreferenceSteps(engine, paired, steps);
  const { learningRate } = steps;
  const { entropyCoefficient } = recipe.loss;
  const stepFigures = { outcome, learningRate, klCoefficient: 0, entropyCoefficient, guard: null };
  const advantages = { explainedVariance: Number.NaN, statistics: groupCounts(pairs) };
  const nothing = { rewardsWithKl: { meanKl: null }, copies: null };
  return {
    outcome,
    ...tokenResults(columns, tokens, { trainedMask: trained, keptMask: null, copies: null, outcome }),
    episodeRewards: scored.totals,
    groupPriorities: null,
    trainerState: inputs.trainerState,
    warnings: [],
    alarm: describeAlarm(pairs),
    metrics: measured([
      ...stepMetrics(recipe, stepFigures),
      ...batchMetrics({ batch, policyVersionIn, proximal, scored, advantages, ...nothing }),
      ...preferenceMetrics(pairs, outcome),
      [LEARNED_TOKENS_METRIC, countMarked(trained)],
    ]),
  };
}

function requireReference({ reference, plan }: UpdateInputs) {
  if (reference !== null) return reference;
  throw new TrainerError(
    'NO_REFERENCE',
    `update ${plan.updateNumber}: preference is relative to the first policy after imitation, which is not published`,
  );
}

/** [E] 1 for the episodes of a pair. */
function maskMembers({ chosen, rejected }: PreferencePairs, numEpisodes: number): Uint8Array {
  const members = new Uint8Array(numEpisodes);
  for (const episode of [...chosen, ...rejected]) members[episode] = 1;
  return members;
}

function groupCounts({ numGroups, numSingletonGroups, numEqualGroups }: PreferencePairs): MetricEntries {
  return Object.entries({ numGroups, numSingletonGroups, numEqualGroups });
}

function preferenceMetrics({ chosen }: PreferencePairs, outcome: PreferenceOutcome): MetricEntries {
  return [
    ['preference/numPairs', chosen.length],
    ['preference/accuracy', outcome.accuracy],
    ['preference/margin', outcome.margin],
    ['preference/chosenReward', outcome.chosenReward],
    ['preference/rejectedReward', outcome.rejectedReward],
  ];
}

function describeAlarm({
  chosen,
  numGroups,
  numSingletonGroups,
  numEqualGroups,
}: PreferencePairs): string | null {
  if (chosen.length > 0) return null;
  return (
    `nothing was trained, the policy stays as it was: none of ${numGroups} groups gives a pair of episodes with unequal rewards ` +
    `(${numEqualGroups} with equal rewards, ${numSingletonGroups} of one episode)`
  );
}
