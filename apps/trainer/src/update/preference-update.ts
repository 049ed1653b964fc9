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
import { measured, type MetricEntries } from './metrics.js';
import { batchMetrics, stepMetrics } from './policy-metrics.js';
import { makePreferenceSteps, type PreferenceOutcome } from './preference-steps.js';
import { computeProximalLogprobs } from './proximal-logprobs.js';
import { computeReferenceLogprobs } from './reference-logprobs.js';
import { readBatch } from './read-batch.js';
import { scoreRewards } from './score-rewards.js';
import { preferenceSteps } from './step-options.js';
import { actionsOf, countMarked, not } from './token-columns.js';
import type { UpdateInputs } from './update-inputs.js';
import { tokenResults } from './update-tokens.js';
import type { UpdateResult } from './update-result.js';

const NOTHING_MORE = { proximalLogprobs: false, squaredProbabilities: false };

/**
 * Computes an update of the policy from the pairs that its groups give, and makes its optimizer steps; none without a pair.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY` (such data is never trained on), `NO_REFERENCE`, `NON_FINITE_LOSS`
 */
export async function preferenceUpdate(
  inputs: UpdateInputs,
  preference: PreferenceRecipe,
): Promise<UpdateResult> {
  const { plan, columns, texts, recipe, rewards, engine, recordedRewards } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { temperature } = recipe.collection;
  const reference = requireReference(inputs);
  const read = readBatch(columns, {
    temperature,
    needs: { greedyBaseline: false, behaviorLogprobs: true, finalValues: false },
  });
  const { batch, groupIds } = read;
  const { sampled: mask, comparable } = read;
  const checked = { temperature, mask, comparable, needs: NOTHING_MORE, updateNumber, policyVersionIn };
  const proximal = await computeProximalLogprobs(engine, batch, checked);
  const unscored = { columns, batch, texts, recordedTotals: recordedRewards };
  const scored = await scoreRewards(rewards, unscored, read);
  const excluded = not(scored.episodesToTrain);
  const pairs = preferencePairs({ returns: scored.totals, groupIds, excluded });
  const trained = actionsOf(batch, membersOf(pairs, groupIds.length));
  const tokens = { temperature, mask: trained };
  const referenceLogprobs = await computeReferenceLogprobs(engine, reference, batch, tokens);
  const steps = preferenceSteps(recipe, { updateNumber, seed, preference });
  const outcome = await makePreferenceSteps(engine, { batch, trained, referenceLogprobs, pairs }, steps);
  const { learningRate } = steps;
  const credit = { explainedVariance: Number.NaN, statistics: groupCounts(pairs) };
  return {
    outcome,
    ...tokenResults(columns, batch, {
      ...{ trainedMask: trained, keptMask: null, copies: null, outcome },
    }),
    episodeRewards: scored.totals,
    groupPriorities: null,
    trainerState: inputs.trainerState,
    warnings: [],
    alarm: alarmOf(pairs),
    metrics: measured([
      ...stepMetrics(recipe, {
        outcome,
        learningRate,
        klCoefficient: 0,
        entropyCoefficient: recipe.loss.entropyCoefficient,
        guard: null,
      }),
      ...batchMetrics({
        batch,
        policyVersionIn,
        proximal,
        scored,
        charged: { meanKl: null },
        credit,
        copies: null,
      }),
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
function membersOf({ chosen, rejected }: PreferencePairs, numEpisodes: number): Uint8Array {
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

function alarmOf({ chosen, numGroups, numSingletonGroups, numEqualGroups }: PreferencePairs): string | null {
  if (chosen.length > 0) return null;
  return (
    `nothing was trained, the policy stays as it was: none of ${numGroups} groups gives a pair of episodes with unequal rewards ` +
    `(${numEqualGroups} with equal rewards, ${numSingletonGroups} of one episode)`
  );
}
