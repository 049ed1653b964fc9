/*
 * The stages of an update of the policy before its optimizer steps. Each takes only what its arrows bring, as columns over the
 * action tokens:
 *
 *   read batch ─┬─▶ proximal logprobs * ─┬──────────────┬─────────────┬───────────────┐
 *               │                        ▼              ▼             ▼               │
 *               ├─▶ score rewards ──▶ rewards with KL corrections ──▶ advantages ──▶ columns
 *               │                        ▲ KL in the reward           ▲               ▲
 *               ├─▶ reference logprobs * ┴────────────────────────────┼── KL in loss ─┘
 *               ├─▶ final values * ───────────────────────────────────┤
 *               └─▶ teacher's logprobs * ─────────────────────────────┘
 *
 * Those with a star wait for the engine, and scoring may wait for a judge. They run one after the other, since the engine works on
 * one call at a time; and the checks come first, so that a batch which fails one never costs a judge.
 */
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { selectActions, without } from './action-tokens.js';
import { computeTokenAdvantages, listRoles, type TokenAdvantages } from './advantages.js';
import { teachTokens, type TaughtTokens } from './distillation.js';
import {
  computeFinalValues,
  computeProximalLogprobs,
  computeReferenceLogprobs,
  recordedLogprobs,
  type ProximalLogprobs,
} from './logprobs.js';
import { resampleEpisodes, updateColumns, type UpdateColumns } from './loss-columns.js';
import { readBatch, type UpdateBatch } from './read-batch.js';
import { chargeKl, scoreRewards, type RewardsWithKl, type ScoredRewards } from './rewards.js';
import { correctRollout, type RolloutCorrection } from './rollout-correction.js';
import { openControllers, readTrainerState, type Controllers, type TrainerState } from './trainer-state.js';
import { asksPolicy, updateNeeds, type UpdateInputs } from './update-inputs.js';

/** Inputs of an update; without an engine, only results that follow from the recorded columns are available. */
export type PrepareInputs = Omit<UpdateInputs, 'engine'> & { readonly engine: UpdateEngine | null };

/** An update up to its optimizer steps. */
export interface PreparedUpdate {
  readonly before: TrainerState;
  readonly controllers: Controllers;
  readonly batch: UpdateBatch;
  readonly proximal: ProximalLogprobs;
  readonly scored: ScoredRewards;
  readonly rewardsWithKl: RewardsWithKl;
  /** [E] */
  readonly trainedEpisodes: Uint8Array;
  /** [A] 1 = this update trains it. */
  readonly trained: Uint8Array;
  readonly correction: RolloutCorrection | null;
  /** [E] V(s_T) of truncated episodes; null without a critic. */
  readonly finalValues: Float32Array | null;
  readonly advantages: TokenAdvantages;
  readonly teacherLogprobs: TaughtTokens['teacherLogprobs'];
  readonly teacherTop: TaughtTokens['teacherTop'];
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
  const { plan, columns, texts, recipe, rewards, engine, recordedRewards: recordedTotals } = inputs;
  const { updateNumber, policyVersionIn, seed } = plan;
  const { advantage, loss } = recipe;
  const { temperature, maxStaleness } = recipe.collection;
  if (engine === null && asksPolicy(recipe, inputs.reference !== null)) throw engineNeeded();
  const before = readTrainerState(inputs.trainerState);
  const controllers = openControllers(recipe, before);
  const needs = updateNeeds(recipe, inputs.reference !== null);
  const batch = readBatch(columns, { temperature, needs });
  const { tokens, sampled: mask } = batch;
  const proximal = engine
    ? await computeProximalLogprobs(engine, batch, { temperature, needs, updateNumber, policyVersionIn })
    : recordedLogprobs(batch);
  const scored = await scoreRewards(rewards, batch, { columns, texts, recordedTotals });
  const reference =
    engine && (await computeReferenceLogprobs(engine, inputs.reference, tokens, { temperature, mask }));
  const [referenceInReward, referenceLogprobs] = needs.klInReward ? [reference, null] : [null, reference];
  const rewardsWithKl = chargeKl(scored.rewards, batch, {
    proximalLogprobs: proximal.logprobs,
    referenceLogprobs: referenceInReward,
    coefficient: controllers.klCoefficient,
    estimator: loss.kl?.estimator ?? 'k3',
  });
  const trainedEpisodes = withoutMasked(recipe, scored, batch);
  const trained = selectActions(tokens, trainedEpisodes);
  const compared = { batch, trained, proximalLogprobs: proximal.logprobs, policyVersionIn };
  const correction = needs.rolloutCorrection
    ? correctRollout(compared, { rules: loss.rolloutCorrection ?? null, maxStaleness })
    : null;
  const finalValues =
    engine && needs.critic ? await computeFinalValues(engine, tokens, batch.bootstrapped) : null;
  const roles =
    needs.roles && texts ? listRoles(texts, recipe.reward.sourceField, before.roleBaselines) : null;
  const untaught = computeTokenAdvantages(
    { columns, batch, scored, rewardsWithKl, proximal, needs, correction, finalValues, roles },
    { ...advantage, trained, seed },
  );
  const { advantages, teacherLogprobs, teacherTop } = engine
    ? await teachTokens({ ...inputs, engine }, { batch, advantages: untaught, proximal, trained, correction })
    : { advantages: untaught, teacherLogprobs: null, teacherTop: null };
  const copies = advantage.resampling ? resampleEpisodes(scored, advantage.resampling, seed) : null;
  const toTrain = { batch, trained, advantages, proximal, correction, referenceLogprobs, teacherTop };
  return {
    ...{ before, controllers, batch, proximal, scored, rewardsWithKl, trainedEpisodes, trained, correction },
    ...{ finalValues, advantages, teacherLogprobs, teacherTop, copies },
    columns: updateColumns(recipe, { ...toTrain, policyVersionIn, copies, plan }),
  };
}

function engineNeeded(): TrainerError {
  const what = 'the recipe reads values, or logprobs that were not recorded';
  const rule = 'there is no policy that could compute them; choose an estimator and a loss that read neither';
  return new TrainerError('ENGINE_NEEDED', `${what}, and ${rule}`);
}

/** [E] The episodes to train, without truncated ones where the recipe leaves those out of the loss. */
function withoutMasked(
  { loss }: Pick<UpdateInputs['recipe'], 'loss'>,
  { episodesToTrain }: Pick<ScoredRewards, 'episodesToTrain'>,
  { truncated }: Pick<UpdateBatch, 'truncated'>,
): Uint8Array {
  return loss.maskTruncated ? without(episodesToTrain, truncated) : episodesToTrain;
}
