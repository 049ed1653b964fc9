import { describe, expect, it } from 'vitest';
import {
  aggregationWeights,
  categoricalEntropy,
  computePolicyLoss,
  countForAggregation,
  estimateKl,
  resamplingWeights,
  valueLoss,
  type Aggregation,
  type KlEstimator,
  type ResamplingRule,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { goldenBatch, readGolden, type GoldenBatch } from '../testing/golden.js';

interface Golden {
  readonly relativeTolerance: number;
  readonly policyLosses: readonly {
    readonly loss: string;
    readonly batch: string;
    readonly options: Record<string, number>;
    readonly aggregation: Aggregation;
    readonly advantages: 'token' | 'sequence';
    /** Of rollout correction, where there is one. */
    readonly importance: number[] | null;
    readonly value: number;
    readonly gradients: number[];
  }[];
  readonly aggregations: readonly {
    readonly aggregation: Aggregation;
    readonly batch: string;
    readonly horizon: number;
    readonly value: number;
    readonly weights: number[];
  }[];
  readonly kl: readonly {
    readonly estimator: KlEstimator;
    readonly straightThrough: boolean;
    readonly batch: string;
    readonly values: number[];
    readonly gradients: number[];
  }[];
  readonly valueLosses: readonly {
    readonly batch: string;
    readonly clip: number;
    readonly value: number;
    readonly clipFraction: number;
    readonly gradients: number[];
  }[];
  readonly resampling: readonly {
    readonly rule: ResamplingRule;
    readonly power: number;
    readonly returns: number[];
    readonly weights: number[];
  }[];
  readonly entropy: { numCategories: number; logits: number[]; entropies: number[]; gradients: number[] };
}

const golden = readGolden('losses.json') as Golden;
const tolerance = golden.relativeTolerance;

function weightsOf(batch: GoldenBatch, aggregation: Aggregation, horizon?: number): Float32Array {
  const counts = countForAggregation({ offsets: batch.offsets });
  return aggregationWeights({ offsets: batch.offsets }, { aggregation, counts, horizon });
}

describe('losses agree with verl 0.9.1, gradients with torch autograd', () => {
  it('has goldens to compare with', () => {
    expect(golden.policyLosses.length).toBeGreaterThan(25);
  });

  it.each(golden.policyLosses.map((c) => [c.loss, c.batch, c.aggregation, c.options, c] as const))(
    '%s on %s, %s, with %j',
    (loss, name, aggregation, options, expected) => {
      const batch = goldenBatch(name);
      const terms = computePolicyLoss(
        loss,
        {
          offsets: batch.offsets,
          logprobs: batch.column('logprobs'),
          proximalLogprobs: batch.column('proximal'),
          advantages:
            expected.advantages === 'token' ? batch.column('advantages') : batch.sequenceColumn('advantages'),
          weights: weightsOf(batch, aggregation),
          importanceWeights: expected.importance && Float32Array.from(expected.importance),
        },
        options,
      );
      expectClose([terms.loss], [expected.value], tolerance);
      expectClose(terms.gradients, expected.gradients, tolerance);
    },
  );

  it.each(golden.aggregations.map((c) => [c.aggregation, c.batch, c] as const))(
    'aggregation %s on %s',
    (aggregation, name, expected) => {
      const batch = goldenBatch(name);
      const weights = weightsOf(batch, aggregation, expected.horizon);
      expectClose(weights, expected.weights, tolerance);
      const sum = batch.column('advantages').reduce((total, value, t) => total + value * weights[t], 0);
      expectClose([sum], [expected.value], tolerance);
    },
  );

  it.each(golden.kl.map((c) => [c.estimator, c.straightThrough, c.batch, c] as const))(
    'KL %s, straight through: %s, on %s',
    (estimator, straightThrough, name, expected) => {
      const batch = goldenBatch(name);
      const terms = estimateKl(batch.column('logprobs'), batch.column('reference'), {
        estimator,
        straightThrough,
      });
      expectClose(terms.values, expected.values, tolerance);
      expectClose(terms.gradients, expected.gradients, tolerance);
    },
  );

  it.each(golden.valueLosses.map((c) => [c.clip, c.batch, c] as const))(
    'value loss clipped at %f on %s',
    (clip, name, expected) => {
      const batch = goldenBatch(name);
      const terms = valueLoss({
        values: batch.column('values'),
        returns: batch.column('advantages'),
        proximalValues: batch.column('reference'),
        weights: weightsOf(batch, 'tokenMean'),
        clip,
      });
      expectClose([terms.loss, terms.clipFraction], [expected.value, expected.clipFraction], tolerance);
      expectClose(terms.gradients, expected.gradients, tolerance);
    },
  );

  it.each(golden.resampling.map((c) => [c.rule, c.power, c] as const))(
    'weights that PF-PPO draws episodes with: %s, %d',
    (rule, power, { returns, weights }) => {
      expectClose(resamplingWeights(Float64Array.from(returns), { rule, power }), weights, tolerance);
    },
  );

  it('entropy from logits, also extreme ones', () => {
    const { numCategories, logits, entropies, gradients } = golden.entropy;
    const terms = categoricalEntropy(Float32Array.from(logits), numCategories);
    expectClose(terms.entropies, entropies, tolerance);
    expectClose(terms.gradients, gradients, tolerance);
  });
});
