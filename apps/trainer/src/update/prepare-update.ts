/*
 * The stages of an update of the policy before its optimizer steps. Each is a file and takes only what its arrows bring:
 *
 *   read batch ─┬─▶ proximal logprobs * ─┬──────────────┬─────────────┬───────────────┐
 *               │                        ▼              ▼             ▼               │
 *               ├─▶ score rewards ──▶ token rewards  corrections ──▶ advantages ──▶ columns
 *               │                        ▲ KL in the reward           ▲               ▲
 *               ├─▶ reference logprobs * ┴────────────────────────────┼── KL in loss ─┘
 *               ├─▶ final values * ───────────────────────────────────┤
 *               └─▶ teacher's logprobs * ─────────────────────────────┘
 *
 * Those with a star wait for the engine, and scoring may wait for a judge. They run one after the other, since the engine works on
 * one call at a time; and the checks come first, so that a batch which fails one never costs a judge.
 */
import type { TokenBatch } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { computeTokenAdvantages, type TokenAdvantages } from './advantages.js';
import { openControllers, type Controllers } from './controllers.js';
import { computeFinalValues } from './final-values.js';
import type { UpdateColumns } from './mini-batches.js';
import { computeProximalLogprobs, type ProximalLogprobs } from './proximal-logprobs.js';
import { readBatch, type ReadBatch } from './read-batch.js';
import { computeReferenceLogprobs } from './reference-logprobs.js';
import { resampleEpisodes } from './resample-episodes.js';
import { rolesOf } from './roles.js';
import { correctRollout, type RolloutCorrection } from './rollout-correction.js';
import { scoreRewards, type ScoredRewards } from './score-rewards.js';
import { teachTokens, type TaughtTokens } from './teaching.js';
import { actionsOf, without } from './token-columns.js';
import { computeTokenRewards, type ChargedRewards } from './token-rewards.js';
import { readTrainerState, type TrainerState } from './trainer-state.js';
import { updateColumns } from './update-columns.js';
import type { UpdateInputs } from './update-inputs.js';
import { asksPolicy, updateNeeds } from './update-needs.js';

/** Inputs of an update; without an engine, only results that follow from the recorded columns are available. */
export type PrepareInputs = Omit<UpdateInputs, 'engine'> & { readonly engine: UpdateEngine | null };

/** An update up to its optimizer steps. */
export interface PreparedUpdate {
  readonly before: TrainerState;
  readonly controllers: Controllers;
  readonly read: ReadBatch;
  readonly proximal: ProximalLogprobs;
  readonly scored: ScoredRewards;
  readonly charged: ChargedRewards;
  /** [E] */
  readonly learnedEpisodes: Uint8Array;
  /** [N] 1 = an action token that this update trains. */
  readonly trained: Uint8Array;
  readonly correction: RolloutCorrection | null;
  /** [E] V(s_T) of truncated episodes; null without a critic. */
  readonly finalValues: Float32Array | null;
  readonly credit: TokenAdvantages;
  readonly teacherLogprobs: TaughtTokens['teacherLogprobs'];
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
  readonly columns: UpdateColumns;
}

/**
 * Computes all that the optimizer steps of an update read.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` or `NOT_ON_POLICY` (such data is never trained on), `NO_GREEDY_BASELINE`, `ENGINE_NEEDED`
 */
export async function prepareUpdate(inputs: PrepareInputs): Promise<PreparedUpdate> {
  const { plan, columns, texts, recipe, rewards, engine, recordedRewards } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { advantage, loss } = recipe;
  const { temperature, maxStaleness } = recipe.collection;
  if (engine === null && asksPolicy(recipe, inputs.reference !== null)) throw engineNeeded();
  const before = readTrainerState(inputs.trainerState);
  const controllers = openControllers(recipe, before);
  const needs = updateNeeds(recipe, inputs.reference !== null);
  const read = readBatch(columns, { temperature, needs });
  const { batch, sampled: mask } = read;
  const tokens = { temperature, mask };
  const ofUpdate = { ...tokens, comparable: read.comparable, needs, updateNumber, policyVersionIn };
  const proximal = engine ? await computeProximalLogprobs(engine, batch, ofUpdate) : recordedLogprobs(batch);
  const unscored = { columns, batch, texts, recordedTotals: recordedRewards };
  const scored = await scoreRewards(rewards, unscored, read);
  const reference = engine && (await computeReferenceLogprobs(engine, inputs.reference, batch, tokens));
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
  const finalValues =
    engine && needs.critic ? await computeFinalValues(engine, batch, read.bootstrapped) : null;
  const roles = needs.roles && texts ? rolesOf(texts, recipe.reward.sourceField, before.roleBaselines) : null;
  const estimated = computeTokenAdvantages(
    { columns, read, scored, charged, proximal, needs, correction, finalValues, roles },
    { ...advantage, trained, seed },
  );
  const untaught = { estimated, proximal, trained, correction };
  const { credit, teacherLogprobs } = engine
    ? await teachTokens({ ...inputs, engine }, read, untaught)
    : { credit: estimated, teacherLogprobs: null };
  const copies = advantage.resampling ? resampleEpisodes(scored, advantage.resampling, seed) : null;
  const sequences = { read, trained, credit, proximal, correction, referenceLogprobs };
  return {
    ...{ before, controllers, read, proximal, scored, charged, learnedEpisodes, trained, correction },
    ...{ finalValues, credit, teacherLogprobs, copies },
    columns: updateColumns(recipe, { ...sequences, policyVersionIn, copies, plan }),
  };
}

function engineNeeded(): TrainerError {
  const what = 'the recipe reads values, or logprobs that were not recorded';
  const rule = 'there is no policy that could compute them; choose an estimator and a loss that read neither';
  return new TrainerError('ENGINE_NEEDED', `${what}, and ${rule}`);
}

/** The tokens as they were recorded, for updates that do not evaluate the policy. */
function recordedLogprobs({ tokenIds, behaviorLogprobs: logprobs }: TokenBatch): ProximalLogprobs {
  const unknown = { values: null, sumSquaredProbabilities: null, ratioMaxDeviation: Number.NaN };
  return { logprobs, entropies: new Float32Array(tokenIds.length), ...unknown };
}

/** [E] The episodes to train, without truncated ones where the recipe leaves those out of the loss. */
function withoutMasked(
  { loss }: Pick<UpdateInputs['recipe'], 'loss'>,
  { episodesToTrain }: Pick<ScoredRewards, 'episodesToTrain'>,
  { truncated }: Pick<ReadBatch, 'truncated'>,
): Uint8Array {
  return loss.maskTruncated ? without(episodesToTrain, truncated) : episodesToTrain;
}
