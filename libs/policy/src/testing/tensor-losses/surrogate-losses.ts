import {
  clipCov,
  decoupledPpo,
  gmpo,
  gspo,
  klCov,
  m2po,
  opsm,
  ppo,
  sapo,
  sapoSequence,
} from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { makeConstant, stopGradient } from '@retrace/compute';
import { sequenceMeans } from './sequence-sums.js';
import { requireColumn, tensorLoss, type TensorLoss, type TensorLossInput } from './tensor-loss.js';
import { held, logRatios, computeRatio, where } from './token-ratio.js';

interface ClipBounds {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip?: number | null;
}

/** max(−Aρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)); where A < 0 at most −dualClip·A `[N]`. */
function clipped(
  advantages: tf.Tensor,
  ratios: tf.Tensor,
  { clipLow, clipHigh, dualClip = null }: ClipBounds,
): tf.Tensor {
  const bounded = tf.clipByValue(ratios, 1 - clipLow, 1 + clipHigh);
  const pessimistic = tf.maximum(tf.neg(tf.mul(advantages, ratios)), tf.neg(tf.mul(advantages, bounded)));
  if (dualClip === null) return pessimistic;
  const dual = tf.minimum(pessimistic, tf.mul(advantages, -dualClip));
  return tf.where(tf.less(advantages, 0), dual, pessimistic);
}

/** The clipped surrogate of each token's own ratio `[N]`. */
function ppoClip(input: TensorLossInput, bounds: ClipBounds): tf.Tensor {
  return clipped(input.advantages, computeRatio(logRatios(input)), bounds);
}

/** SAPO's gate on ratios, −A·(4/τ)·σ(τ(ρ − 1)) `[N]`. */
function softGated(
  advantages: tf.Tensor,
  ratios: tf.Tensor,
  {
    temperaturePositive,
    temperatureNegative,
  }: { readonly temperaturePositive: number; readonly temperatureNegative: number },
): tf.Tensor {
  const isPositive = tf.cast(tf.greater(advantages, 0), 'float32');
  const temperatures = tf.add(
    temperatureNegative,
    tf.mul(isPositive, temperaturePositive - temperatureNegative),
  );
  const gates = tf.sigmoid(tf.mul(temperatures, tf.sub(ratios, 1)));
  return tf.neg(tf.mul(advantages, tf.div(tf.mul(4, gates), temperatures)));
}

/** w = π_prox/π_b `[N]`. */
function behaviorRatios(input: TensorLossInput): tf.Tensor {
  return computeRatio(tf.sub(input.proximalLogprobs, requireColumn(input, 'behaviorLogprobs')));
}

/** 1 where `selectLossTokens` did not pick the token `[N]`. */
function unselected(input: TensorLossInput): tf.Tensor {
  return tf.sub(1, requireColumn(input, 'selected'));
}

/** Losses in which the ratio π/π_prox (or π/π_b) itself carries the gradient. The definitions they take their names from say more. */
export const surrogateLosses: readonly TensorLoss[] = [
  tensorLoss(ppo, ppoClip),
  tensorLoss(gspo, (input, bounds) => {
    const ofSequence = stopGradient(held(sequenceMeans(input, logRatios(input))));
    const ofToken = tf.add(ofSequence, tf.sub(input.logprobs, stopGradient(input.logprobs)));
    return clipped(input.advantages, tf.exp(ofToken), {
      ...bounds,
      dualClip: Math.min(bounds.dualClip ?? Infinity, Math.exp(10)),
    });
  }),
  tensorLoss(
    gmpo,
    (input, { clipLow, clipHigh }) => {
      const sign = tf.sign(input.advantages);
      const pushed = tf.mul(sign, logRatios(input));
      const bounded = tf.mul(sign, tf.clipByValue(logRatios(input), -clipLow, clipHigh));
      const pessimistic = tf.mul(sign, tf.minimum(pushed, bounded));
      const ratios = computeRatio(sequenceMeans(input, pessimistic));
      return tf.neg(tf.mul(sequenceMeans(input, input.advantages), ratios));
    },
    (input, weights) => tf.exp(sequenceMeans(input, tf.log(tf.add(weights, 1e-10)))),
  ),
  tensorLoss(sapo, (input, temperatures) =>
    softGated(input.advantages, computeRatio(logRatios(input)), temperatures),
  ),
  tensorLoss(sapoSequence, (input, temperatures) => {
    const ofSequence = stopGradient(held(sequenceMeans(input, logRatios(input))));
    const ofToken = tf.add(ofSequence, tf.sub(input.logprobs, stopGradient(input.logprobs)));
    return softGated(sequenceMeans(input, input.advantages), tf.exp(ofToken), temperatures);
  }),
  tensorLoss(decoupledPpo, (input, { cap, capRule, ...bounds }) => {
    const weights = behaviorRatios(input);
    const loss = ppoClip(input, bounds);
    if (cap === null) return tf.mul(weights, loss);
    if (capRule === 'truncate') return tf.mul(tf.minimum(weights, cap), loss);
    return where(tf.lessEqual(weights, cap), tf.mul(weights, loss));
  }),
  tensorLoss(m2po, (input, { form, clipLow, clipHigh, dualClip }) => {
    if (form === 'proximal') {
      const loss = ppoClip(input, { clipLow, clipHigh, dualClip });
      return where(unselected(input), tf.mul(behaviorRatios(input), loss));
    }
    const ratios = computeRatio(tf.sub(input.logprobs, requireColumn(input, 'behaviorLogprobs')));
    return where(unselected(input), tf.neg(tf.mul(input.advantages, ratios)));
  }),
  tensorLoss(opsm, (input, { delta, ...bounds }) => {
    const isKept = makeConstant([input.logprobs], () => {
      const behind = tf.sub(requireColumn(input, 'behaviorLogprobs'), input.logprobs);
      const isNear = tf.lessEqual(held(sequenceMeans(input, behind)), delta);
      return tf.logicalOr(tf.greaterEqual(input.advantages, 0), isNear);
    });
    return where(isKept, ppoClip(input, bounds));
  }),
  tensorLoss(clipCov, (input, { clipLow, clipHigh }) =>
    where(unselected(input), ppoClip(input, { clipLow, clipHigh })),
  ),
  tensorLoss(klCov, (input, { beta }) => {
    const distances = tf.abs(logRatios(input));
    const penalties = tf.mul(beta, tf.mul(requireColumn(input, 'selected'), distances));
    return tf.sub(penalties, tf.mul(input.advantages, computeRatio(logRatios(input))));
  }),
];
