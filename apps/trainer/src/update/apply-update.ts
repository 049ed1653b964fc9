import type { Recipe } from '@retrace/config';
import { Pcg32 } from '@retrace/environments';
import type { GradientStep, LossOptions } from '@retrace/policy';
import type { AggregationRule } from './loss-weights.js';
import {
  gatherSequences,
  shuffledSequences,
  splitByActionTokens,
  type UpdateColumns,
} from './mini-batches.js';
import { TrainerError } from '../trainer-error.js';

export interface UpdateOptions {
  readonly learningRate: number;
  /** Seeds the order of the sequences in every epoch. */
  readonly seed: number;
  readonly loss: LossOptions;
  readonly optimizer: Recipe['optimizer'];
  readonly aggregation: AggregationRule;
}

export interface UpdateOutcome {
  /** Means over the update's mini-batches; NaN where there was none, as then nothing was measured. */
  readonly loss: number;
  readonly policyLoss: number;
  readonly valueLoss: number;
  readonly entropy: number;
  readonly kl: number;
  readonly clipFraction: number;
  readonly approximateKl: number;
  readonly gradientNorm: number;
  /** Tokens through forward and backward, all epochs. */
  readonly numTrainedTokens: number;
  readonly numOptimizerSteps: number;
}

/**
 * Epochs of mini-batch steps on one batch: each mini-batch's gradient is accumulated over its micro-batches and applied once.
 *
 * @throws TrainerError `NON_FINITE_LOSS` before any such gradient is applied
 */
export async function applyUpdate(
  optimizer: GradientStep,
  columns: UpdateColumns,
  options: UpdateOptions,
): Promise<UpdateOutcome> {
  const random = new Pcg32(options.seed);
  const sums = {
    loss: 0,
    policyLoss: 0,
    valueLoss: 0,
    entropy: 0,
    kl: 0,
    clipFraction: 0,
    approximateKl: 0,
    gradientNorm: 0,
  };
  let numTrainedTokens = 0;
  let numOptimizerSteps = 0;
  for (let epoch = 0; epoch < options.optimizer.epochs; epoch++) {
    const order = shuffledSequences(columns, random);
    for (const sequences of splitByActionTokens(columns, order, options.optimizer.miniBatchActionTokens)) {
      const batch = gatherSequences(columns, sequences, options.aggregation);
      const terms = await optimizer.accumulate(batch, options.loss);
      if (!Number.isFinite(terms.loss)) {
        throw new TrainerError('NON_FINITE_LOSS', `loss is ${terms.loss} in epoch ${epoch}; must be finite`);
      }
      const { gradientNorm } = await optimizer.apply({
        learningRate: options.learningRate,
        maxGradientNorm: options.optimizer.maxGradientNorm,
      });
      sums.loss += terms.loss;
      sums.policyLoss += terms.policyLoss;
      sums.valueLoss += terms.valueLoss;
      sums.entropy += terms.entropy;
      sums.kl += terms.kl;
      sums.clipFraction += terms.clipFraction;
      sums.approximateKl += terms.approximateKl;
      sums.gradientNorm += gradientNorm;
      numTrainedTokens += batch.tokenIds.length;
      numOptimizerSteps++;
    }
  }
  const mean = (sum: number) => sum / numOptimizerSteps;
  return {
    loss: mean(sums.loss),
    policyLoss: mean(sums.policyLoss),
    valueLoss: mean(sums.valueLoss),
    entropy: mean(sums.entropy),
    kl: mean(sums.kl),
    clipFraction: mean(sums.clipFraction),
    approximateKl: mean(sums.approximateKl),
    gradientNorm: mean(sums.gradientNorm),
    numTrainedTokens,
    numOptimizerSteps,
  };
}
