import { describe, expect, it } from 'vitest';
import {
  aggregationWeights,
  computePolicyLoss,
  countForAggregation,
  drGrpo,
  estimateKl,
  grpo,
  highEntropyTokens,
  importanceWeights,
  rloo,
  rowSums,
  type Aggregation,
  type ImportanceOptions,
} from './index.js';
import { expectClose } from './testing/expect-close.js';
import { goldenBatch, readGolden, type GoldenBatch } from './testing/golden.js';

interface GoldenLoss {
  readonly batch: string;
  readonly loss: string;
  readonly options: Record<string, number>;
  readonly aggregation: Aggregation;
  readonly advantages: 'token' | 'sequence';
  readonly value: number;
  readonly gradients: number[];
}
interface Golden {
  readonly relativeTolerance: number;
  readonly horizon: number;
  readonly losses: readonly GoldenLoss[];
  readonly biasCorrectedKl: readonly (GoldenLoss & { readonly klCoefficient: number })[];
  readonly highEntropy: readonly {
    readonly batch: string;
    readonly fraction: number;
    readonly entropies: number[];
    readonly chosen: number[];
  }[];
  readonly grpo: readonly { batch: string; scale: 'group' | 'batch' | 'none'; advantages: number[] }[];
  readonly rloo: readonly { batch: string; advantages: number[] }[];
  readonly weights: readonly { batch: string; options: ImportanceOptions; weights: number[] }[];
}
const golden = readGolden('trl.json') as Golden;
const { relativeTolerance: tolerance, horizon } = golden;

function groupInput(batch: GoldenBatch) {
  return { returns: rowSums(batch.column('outcome_rewards'), batch.offsets), groupIds: batch.groupIds };
}

describe('estimators and losses: agree with TRL 1.16', () => {
  it.each(golden.biasCorrectedKl.map((c) => [c.batch, c] as const))(
    'in PPO with a bias-corrected KL on %s',
    (name, { options, aggregation, klCoefficient, value, gradients }) => {
      const batch = goldenBatch(name);
      const { offsets } = batch;
      const [logprobs, proximalLogprobs] = [batch.column('logprobs'), batch.column('proximal')];
      const counts = countForAggregation({ offsets });
      const weights = aggregationWeights({ offsets }, { aggregation, counts });
      const advantages = batch.column('advantages');
      const policy = computePolicyLoss(
        'ppo',
        { offsets, logprobs, proximalLogprobs, advantages, weights },
        options,
      );
      const kl = estimateKl(logprobs, batch.column('reference'), { estimator: 'k3', proximalLogprobs });
      const sum = kl.values.reduce((total, estimate, t) => total + weights[t] * estimate, 0);
      expectClose([policy.loss + klCoefficient * sum], [value], tolerance);
      const total = policy.gradients.map((g, t) => g + klCoefficient * weights[t] * kl.gradients[t]);
      expectClose(total, gradients, tolerance);
    },
  );

  it.each(golden.highEntropy.map((c) => [c.batch, c.fraction, c] as const))(
    'in the tokens of the highest entropy on %s, a share of %d',
    (_name, fraction, { entropies, chosen }) => {
      expect([...highEntropyTokens(Float32Array.from(entropies), fraction)]).toEqual(chosen);
    },
  );

  it.each(golden.losses.map((c) => [c.loss, c.batch, c.aggregation, c.options, c] as const))(
    'in %s on %s, %s, with %j',
    (loss, name, aggregation, options, expected) => {
      const batch = goldenBatch(name);
      const { offsets } = batch;
      const counts = countForAggregation({ offsets });
      const terms = computePolicyLoss(
        loss,
        {
          offsets,
          logprobs: batch.column('logprobs'),
          proximalLogprobs: batch.column('proximal'),
          behaviorLogprobs: batch.column('proximal'),
          advantages:
            expected.advantages === 'token' ? batch.column('advantages') : batch.sequenceColumn('advantages'),
          weights: aggregationWeights({ offsets }, { aggregation, counts, horizon }),
        },
        options,
      );
      expectClose([terms.loss], [expected.value], tolerance);
      expectClose(terms.gradients, expected.gradients, tolerance);
    },
  );

  it.each(golden.rloo.map((c) => [c.batch, c.advantages] as const))(
    'in leave-one-out on %s',
    (name, expected) => {
      expectClose(rloo(groupInput(goldenBatch(name))).advantages, expected, tolerance);
    },
  );

  it.each(golden.grpo.filter(({ scale }) => scale === 'none').map((c) => [c.batch, c.advantages] as const))(
    'in unscaled group advantages on %s',
    (name, expected) => {
      expectClose(drGrpo(groupInput(goldenBatch(name))).advantages, expected, tolerance);
    },
  );

  it.each(golden.weights.map((c) => [c.batch, c.options, c.weights] as const))(
    'in importance ratios on %s with %j',
    (name, options, expected) => {
      const batch = goldenBatch(name);
      const { weights } = importanceWeights(
        {
          offsets: batch.offsets,
          proximalLogprobs: batch.column('proximal'),
          behaviorLogprobs: batch.column('behavior'),
        },
        options,
      );
      expectClose(weights, expected, tolerance);
    },
  );
});

describe('deliberate differences from TRL 1.16', () => {
  const scaled = (scale: 'group' | 'batch') => golden.grpo.filter((c) => c.scale === scale);

  it('grpo: divides by σ + 1e-6 where TRL divides by σ + 1e-4, and is equal otherwise', () => {
    for (const { batch: name, advantages } of scaled('group')) {
      const input = groupInput(goldenBatch(name));
      const ours = grpo(input).advantages;
      const centred = drGrpo(input).advantages;
      const theirs = Array.from(ours, (advantage, e) => {
        // σ from the advantage itself: a = c/(σ + 1e-6).
        const deviation = advantage === 0 ? 0 : centred[e] / advantage - 1e-6;
        return centred[e] / (deviation + 1e-4);
      });
      expectClose(theirs, advantages, 1e-4);
      const largest = Math.max(...Array.from(ours, (advantage, e) => Math.abs(advantage - advantages[e])));
      expect(largest).toBeGreaterThan(1e-4);
      expect(largest).toBeLessThan(1e-3);
    }
  });

  it('TRL’s scaling by the deviation of the batch: equals R − μ divided by one number, so no estimator is needed', () => {
    for (const { batch: name, advantages } of scaled('batch')) {
      const input = groupInput(goldenBatch(name));
      const mean = input.returns.reduce((sum, value) => sum + value, 0) / input.returns.length;
      const squares = input.returns.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const deviation = Math.sqrt(squares / (input.returns.length - 1));
      expectClose(
        drGrpo(input).advantages.map((a) => a / (deviation + 1e-4)),
        advantages,
        tolerance,
      );
    }
  });
});
