import type { OptimizerRecipe } from '@retrace/config';
import { Pcg32 } from '@retrace/environments';
import { averageTerms, type LossTerms, type LossTermValues } from '@retrace/policy';
import type { StepLoss, UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import type { AggregationRule } from './loss-weights.js';
import {
  gatherSequences,
  shuffledSequences,
  splitSequences,
  type MiniBatchSize,
  type UpdateColumns,
} from './mini-batches.js';

export interface StepOptions {
  readonly learningRate: number;
  /** null where the critic has that of the policy. */
  readonly criticLearningRate: number | null;
  /** Seeds the order of the sequences in every epoch. */
  readonly seed: number;
  readonly loss: StepLoss;
  readonly optimizer: MiniBatchSize & Pick<OptimizerRecipe, 'epochs' | 'maxGradientNorm'>;
  readonly aggregation: AggregationRule;
}

/** Means over the update's mini-batches; NaN where there was none, as then nothing was measured. */
export interface UpdateOutcome extends LossTermValues {
  readonly gradientNorm: number;
  /** NaN where the critic is not optimized apart. */
  readonly criticGradientNorm: number;
  /** Tokens through forward and backward, all epochs. */
  readonly numTrainedTokens: number;
  readonly numOptimizerSteps: number;
}

/**
 * Epochs of mini-batch steps on one batch: each mini-batch's gradient is accumulated and applied once.
 *
 * @throws TrainerError `NON_FINITE_LOSS` before any such gradient is applied
 */
export async function makeOptimizerSteps(
  engine: Pick<UpdateEngine, 'accumulate' | 'step'>,
  columns: UpdateColumns,
  { learningRate, criticLearningRate, seed, loss, optimizer, aggregation }: StepOptions,
): Promise<UpdateOutcome> {
  const random = new Pcg32(seed);
  const steps: LossTerms[] = [];
  let sumOfNorms = 0;
  let sumOfCriticNorms = 0;
  let numTrainedTokens = 0;
  for (let epoch = 0; epoch < optimizer.epochs; epoch++) {
    const order = shuffledSequences(columns, random);
    for (const sequences of splitSequences(columns, order, optimizer)) {
      const batch = gatherSequences(columns, sequences, aggregation);
      const terms = await engine.accumulate(batch, loss);
      if (!Number.isFinite(terms.loss)) {
        throw new TrainerError('NON_FINITE_LOSS', `loss is ${terms.loss} in epoch ${epoch}; must be finite`);
      }
      const { gradientNorm, criticGradientNorm } = await engine.step({
        learningRate,
        criticLearningRate: criticLearningRate ?? learningRate,
        maxGradientNorm: optimizer.maxGradientNorm,
      });
      steps.push(terms);
      sumOfNorms += gradientNorm;
      sumOfCriticNorms += criticGradientNorm ?? Number.NaN;
      numTrainedTokens += batch.tokenIds.length;
    }
  }
  return {
    ...averageTerms(steps),
    gradientNorm: sumOfNorms / steps.length,
    criticGradientNorm: sumOfCriticNorms / steps.length,
    numTrainedTokens,
    numOptimizerSteps: steps.length,
  };
}
