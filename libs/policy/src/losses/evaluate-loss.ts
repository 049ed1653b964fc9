import {
  computePolicyLoss,
  estimateKl,
  ratioStatistics,
  selectLossTokens,
  valueLoss,
} from '@retrace/algorithms';
import type { PolicyLossInput, PolicyLossTerms } from '@retrace/algorithms';
import { PolicyError } from '../policy-error.js';
import type { LossOptions } from './loss-options.js';
import type { LossSums } from './loss-terms.js';
import { distillationTerms, type DistillationTerms } from './distillation-term.js';
import { recordFigures, type TokenFigures } from './token-figures.js';
import type { TrainingBatch } from './training-batch.js';

/** The model's outputs for the trained tokens of a micro-batch, or the loss's derivatives by them. All [M]. */
export interface TokenColumns {
  /** log π of the token. */
  readonly logprobs: Float32Array;
  /** Entropy of the distribution the token was chosen from; NaN where it is unknown, which only a loss without an entropy term allows. */
  readonly entropies: Float32Array;
  /** V of the state in which the token was chosen; null where the loss has no value term. */
  readonly values: Float32Array | null;
  /** [M·k] log π of the ids of `chosenIdsAt`; null or absent where the loss has no distillation term. */
  readonly topLogprobs?: Float32Array | null;
}

/** The tokens of a batch that a micro-batch trains. */
export interface TrainedTokens {
  /** [M] positions in the flat batch, sequence by sequence. */
  readonly positions: Int32Array;
  /** Where each sequence's tokens begin among the M, and the end of the last. */
  readonly offsets: Int32Array;
  /** [N] 1 for the tokens that a loss which ranks the whole batch keeps (`selectBatchTokens`); null for other losses. */
  readonly selected?: Uint8Array | null;
  /** [N] Where to write what the loss reads of each token; null: it is not recorded. */
  readonly figures?: TokenFigures | null;
}

export interface EvaluatedLoss {
  readonly sums: LossSums;
  /** Derivative of `sums.loss` by each output. */
  readonly gradients: TokenColumns;
}

/**
 * Computes Σ w (r·ℓ_policy + c_D·r·D + c_V·ℓ_V + c_KL·kl − c_H·H) over the trained tokens of a micro-batch, with its derivatives by
 * the model's outputs; w are the loss weights, r the importance weights. The terms are those of `@retrace/algorithms`.
 *
 * @throws PolicyError `NOT_FINITE` when an output is not a finite number
 */
export function evaluateLoss(
  outputs: TokenColumns,
  batch: TrainingBatch,
  trained: TrainedTokens,
  options: LossOptions,
): EvaluatedLoss {
  requireFinite('log π', outputs.logprobs);
  if (outputs.values !== null) requireFinite('V', outputs.values);
  const { logprobs, entropies } = outputs;
  const at = (column: Float32Array) => pick(column, trained.positions);
  const weights = at(batch.lossWeights);
  const proximalLogprobs = computeProximal(logprobs, batch, trained.positions);

  const policy = policyTerms(logprobs, proximalLogprobs, weights, batch, trained, options);
  const logprobGradients = policy.gradients;
  let loss = policy.loss;

  let sumOfKl = 0;
  const reference = batch.referenceLogprobs ? at(batch.referenceLogprobs) : null;
  const kl = reference && klTerms(logprobs, { reference, proximal: proximalLogprobs }, options);
  if (kl) {
    for (let m = 0; m < weights.length; m++) {
      sumOfKl += kl.values[m];
      loss += options.klCoefficient * weights[m] * kl.values[m];
      logprobGradients[m] += options.klCoefficient * weights[m] * kl.gradients[m];
    }
  }

  let sumOfEntropies = 0;
  const entropyGradients = weights.map((weight) => -options.entropyCoefficient * weight);
  for (let m = 0; m < weights.length; m++) {
    sumOfEntropies += entropies[m];
    if (options.entropyCoefficient !== 0) loss += entropyGradients[m] * entropies[m];
  }

  const taught = teacherTerms(outputs, batch, { positions: trained.positions, weights }, options);
  if (taught !== null) loss += (options.distillation?.coefficient ?? 0) * taught.loss;

  const value = outputs.values === null ? null : valueTerms(outputs.values, weights, batch, at, options);
  if (value !== null) loss += options.valueCoefficient * value.loss;

  recordFigures(trained.figures, trained.positions, {
    ...outputs,
    proximalLogprobs: batch.proximalLogprobs ? proximalLogprobs : null,
    kls: kl?.values ?? null,
    clipped: policy.clipped,
  });
  const numTokens = weights.length;
  const ratios = ratioStatistics(logprobs, proximalLogprobs);
  return {
    sums: {
      ...{ loss, policyLoss: policy.loss, valueLoss: value?.loss ?? 0, distillationLoss: taught?.loss ?? 0 },
      ...{ entropy: sumOfEntropies, kl: sumOfKl },
      clipFraction: policy.statistics.clipFraction * numTokens,
      valueClipFraction: (value?.clipFraction ?? 0) * numTokens,
      approximateKl: ratios.klK3 * numTokens,
      ...{ ratioMaxDeviation: ratios.maxDeviation, numTokens },
    },
    gradients: {
      logprobs: logprobGradients,
      entropies: entropyGradients,
      values: value === null ? null : value.gradients.map((gradient) => options.valueCoefficient * gradient),
      topLogprobs: taught && taught.gradients,
    },
  };
}

/** The distillation term with the importance weights of the policy loss; null without one. */
function teacherTerms(
  { topLogprobs = null }: TokenColumns,
  { teacherTop = null, importanceWeights }: TrainingBatch,
  { positions, weights }: { readonly positions: Int32Array; readonly weights: Float32Array },
  { distillation = null }: LossOptions,
): DistillationTerms | null {
  if (distillation === null || teacherTop === null || topLogprobs === null) return null;
  requireFinite('log π of an id', topLogprobs);
  const weighed = weights.map((weight, m) => weight * (importanceWeights?.[positions[m]] ?? 1));
  return distillationTerms(topLogprobs, teacherTop, {
    ...{ ...distillation, positions, weights: weighed },
  });
}

function klTerms(
  logprobs: Float32Array,
  { reference, proximal }: { readonly reference: Float32Array; readonly proximal: Float32Array },
  { klEstimator: estimator, klStraightThrough: straightThrough, klBiasCorrection }: LossOptions,
) {
  const proximalLogprobs = klBiasCorrection ? proximal : null;
  return estimateKl(logprobs, reference, { estimator, straightThrough, proximalLogprobs });
}

function policyTerms(
  logprobs: Float32Array,
  proximalLogprobs: Float32Array,
  weights: Float32Array,
  batch: TrainingBatch,
  trained: TrainedTokens,
  { policyLoss, policyLossOptions }: LossOptions,
): PolicyLossTerms & { readonly clipped: Uint8Array | null } {
  const input = policyLossInput(logprobs, proximalLogprobs, weights, batch, trained);
  const clipped = trained.figures ? new Uint8Array(weights.length) : null;
  const output = clipped && { clipped };
  return { ...computePolicyLoss(policyLoss, { ...input, output }, policyLossOptions), clipped };
}

/**
 * log π of the proximal policy at the trained tokens: p + α(log π − p), α the share of the way to the current policy. Without
 * proximal logprobs it is the current one.
 */
function computeProximal(
  logprobs: Float32Array,
  { proximalLogprobs, proximalShares }: TrainingBatch,
  positions: Int32Array,
): Float32Array {
  if (!proximalLogprobs) return logprobs;
  return logprobs.map((logprob, m) => {
    const proximal = proximalLogprobs[positions[m]];
    return proximal + (proximalShares?.[positions[m]] ?? 0) * (logprob - proximal);
  });
}

/** The columns of the trained tokens that policy losses read. */
function policyLossInput(
  logprobs: Float32Array,
  proximalLogprobs: Float32Array,
  weights: Float32Array,
  { advantages, importanceWeights, behaviorLogprobs }: TrainingBatch,
  { positions, offsets, selected }: TrainedTokens,
): PolicyLossInput {
  const at = (column: Float32Array) => pick(column, positions);
  return {
    offsets,
    logprobs,
    proximalLogprobs,
    advantages: advantages ? at(advantages) : new Float32Array(logprobs.length),
    weights,
    importanceWeights: importanceWeights ? at(importanceWeights) : null,
    behaviorLogprobs: behaviorLogprobs ? at(behaviorLogprobs) : null,
    selected: selected ? Uint8Array.from(positions, (n) => selected[n]) : null,
  };
}

/**
 * Marks [N] the tokens that a loss which ranks the whole batch keeps, so that the micro-batches of the second pass add up
 * to the loss of the whole; null for losses without such a rule.
 *
 * @param logprobs [N] log π of the current policy
 */
export function selectBatchTokens(
  logprobs: Float32Array,
  batch: TrainingBatch,
  { policyLoss, policyLossOptions }: LossOptions,
): Uint8Array | null {
  const { sequenceOffsets, lossWeights } = batch;
  const positions: number[] = [];
  const offsets = new Int32Array(sequenceOffsets.length);
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    for (let n = sequenceOffsets[s]; n < sequenceOffsets[s + 1]; n++)
      if (lossWeights[n] !== 0) positions.push(n);
    offsets[s + 1] = positions.length;
  }
  const at = (column: Float32Array) => pick(column, positions);
  const trained = { positions: Int32Array.from(positions), offsets };
  const current = at(logprobs);
  const proximal = computeProximal(current, batch, trained.positions);
  const input = policyLossInput(current, proximal, at(lossWeights), batch, trained);
  const chosen = selectLossTokens(policyLoss, input, policyLossOptions);
  if (chosen === null) return null;
  const selected = new Uint8Array(lossWeights.length);
  positions.forEach((n, m) => {
    selected[n] = chosen[m];
  });
  return selected;
}

function valueTerms(
  values: Float32Array,
  weights: Float32Array,
  { returns, proximalValues }: TrainingBatch,
  at: (column: Float32Array) => Float32Array,
  { valueClip }: LossOptions,
) {
  return valueLoss({
    values,
    returns: at(returns as Float32Array),
    proximalValues: valueClip === null ? null : at(proximalValues as Float32Array),
    weights,
    clip: valueClip,
  });
}

/** [M] The values at some positions; in a loop, which takes a tenth of the time of `Float32Array.from` with a function. */
function pick(column: Float32Array, positions: ArrayLike<number>): Float32Array {
  const picked = new Float32Array(positions.length);
  for (let m = 0; m < picked.length; m++) picked[m] = column[positions[m]];
  return picked;
}

function requireFinite(name: string, values: Float32Array): void {
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) {
    throw new PolicyError(
      'NOT_FINITE',
      `${name} of a trained token is ${values[bad]}; the weights are unusable`,
    );
  }
}
