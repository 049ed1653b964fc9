import { cispo, crossEntropy, dppoKl, dppoTv, dro, gpgLoss, topr, vespo } from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { makeConstant, stopGradient } from '@retrace/compute';
import { sequenceSums } from './sequence-sums.js';
import { requireColumn, tensorLoss, type TensorLoss, type TensorLossInput } from './tensor-loss.js';
import { held, logRatios, computeRatio } from './token-ratio.js';

/** Keeps the Bernoulli KL finite where a probability is 1. */
const KL_EPSILON = 1e-8;

/** −f·A·logπ `[N]` with a factor that has no gradient. */
function weightedLogprobs({ advantages, logprobs }: TensorLossInput, factors: tf.Tensor | 1): tf.Tensor {
  return tf.neg(tf.mul(tf.mul(factors, advantages), logprobs));
}

/** sg[ρ] of each token `[N]`. */
function fixedRatios(input: TensorLossInput): tf.Tensor {
  return stopGradient(computeRatio(logRatios(input)));
}

/** Masks of tokens that moved too far, for A > 0 and for A ≤ 0 `[N]`. */
interface TooFar {
  readonly up: tf.Tensor;
  readonly down: tf.Tensor;
}

/**
 * −A·sg[min(ρ, maxRatio)]·logπ, 0 for tokens that have moved too far in the direction that A pushes `[N]`.
 *
 * @param tooFar from π and π_prox of each token `[N]`
 */
function dppo(
  input: TensorLossInput,
  maxRatio: number,
  tooFar: (probability: tf.Tensor, proximal: tf.Tensor) => TooFar,
): tf.Tensor {
  const { advantages, logprobs, proximalLogprobs } = input;
  const factors = makeConstant([logprobs], () => {
    const { up, down } = tooFar(tf.exp(logprobs), tf.exp(proximalLogprobs));
    const ratios = tf.minimum(computeRatio(logRatios(input)), maxRatio);
    const isPositive = tf.greater(advantages, 0);
    // A `where` of booleans writes beyond its end on WebAssembly, whose kernel takes them for floats.
    const isDropped = tf.logicalOr(
      tf.logicalAnd(isPositive, up),
      tf.logicalAnd(tf.logicalNot(isPositive), down),
    );
    return tf.where(isDropped, tf.zerosLike(ratios), ratios);
  });
  return weightedLogprobs(input, factors);
}

/** Losses of the form −(fixed factor)·A·logπ, and their kin. The definitions they take their names from say more. */
export const weightedLogprobLosses: readonly TensorLoss[] = [
  tensorLoss(gpgLoss, (input) => weightedLogprobs(input, 1)),
  tensorLoss(crossEntropy, ({ logprobs }) => tf.neg(logprobs)),
  tensorLoss(cispo, (input, { clipLow, clipHigh }) =>
    weightedLogprobs(input, tf.clipByValue(fixedRatios(input), 1 - clipLow, 1 + clipHigh)),
  ),
  tensorLoss(dro, (input, { beta }) =>
    tf.add(weightedLogprobs(input, 1), tf.mul(beta / 2, tf.square(logRatios(input)))),
  ),
  tensorLoss(topr, (input) => {
    const logs = tf.sub(stopGradient(input.logprobs), requireColumn(input, 'behaviorLogprobs'));
    const tapers = tf.minimum(computeRatio(sequenceSums(input, logs)), 1);
    const isNegative = tf.less(input.advantages, 0);
    return weightedLogprobs(input, tf.where(isNegative, tapers, tf.onesLike(tapers)));
  }),
  tensorLoss(vespo, (input, { powerPositive, decayPositive, powerNegative, decayNegative }) => {
    const logs = tf.sub(stopGradient(input.logprobs), requireColumn(input, 'behaviorLogprobs'));
    const logRatios = tf.clipByValue(sequenceSums(input, held(logs)), Math.log(1e-8), 20);
    const phi = (power: number, decay: number) =>
      tf.exp(tf.sub(tf.mul(power, logRatios), tf.mul(decay, tf.expm1(logRatios))));
    const isNegative = tf.less(input.advantages, 0);
    const factors = tf.where(
      isNegative,
      phi(powerNegative, decayNegative),
      phi(powerPositive, decayPositive),
    );
    return weightedLogprobs(input, factors);
  }),
  tensorLoss(dppoTv, (input, { deltaLow, deltaHigh, maxRatio }) =>
    dppo(input, maxRatio, (probability, proximal) => {
      const moved = tf.sub(probability, proximal);
      return { up: tf.greater(moved, deltaHigh), down: tf.less(moved, -deltaLow) };
    }),
  ),
  tensorLoss(dppoKl, (input, { deltaLow, deltaHigh, maxRatio }) =>
    dppo(input, maxRatio, (probability, proximal) => {
      const rest = (p: tf.Tensor) => tf.add(tf.sub(1, p), KL_EPSILON);
      const ofOthers = tf.mul(tf.sub(1, proximal), tf.log(tf.div(rest(proximal), rest(probability))));
      const kl = tf.sub(ofOthers, tf.mul(proximal, logRatios(input)));
      return {
        up: tf.logicalAnd(tf.greater(kl, deltaHigh), tf.greater(probability, proximal)),
        down: tf.logicalAnd(tf.greater(kl, deltaLow), tf.less(probability, proximal)),
      };
    }),
  ),
];
