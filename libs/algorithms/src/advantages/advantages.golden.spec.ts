import { describe, expect, it } from 'vitest';
import { computeAdvantages, gae, whiten } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { goldenBatch, readGolden } from '../testing/golden.js';

interface GoldenCase {
  readonly estimator: string;
  readonly batch: string;
  readonly rewards: string;
  readonly options: Record<string, number | string | boolean>;
  readonly advantages: number[];
  readonly returns?: number[];
  readonly whitened?: number[];
  readonly bootstrap?: boolean;
  readonly importanceWeights?: boolean;
  readonly componentWeights?: number[];
}

const { cases, relativeTolerance } = readGolden('advantages.json') as {
  cases: GoldenCase[];
  relativeTolerance: number;
};

describe('advantages agree with verl 0.9.1', () => {
  it('has goldens to compare with', () => {
    expect(cases.length).toBeGreaterThan(40);
  });

  const gaeCases = cases.filter((golden) => golden.estimator === 'gae');
  it.each(gaeCases.map((golden) => [golden.batch, golden.options, golden.bootstrap, golden] as const))(
    'gae on %s with %j, truncated rows: %s',
    (_batch, options, bootstrap, golden) => {
      const batch = goldenBatch(golden.batch);
      const common = {
        gamma: options.gamma as number,
        lambda: options.lambda as number,
        truncated: bootstrap === true ? batch.truncated : null,
        finalValues: batch.finalValues,
      };
      const flat = gae({
        ...common,
        offsets: batch.offsets,
        rewards: batch.column('dense_rewards'),
        values: batch.column('values'),
      });
      expectClose(flat.advantages, golden.advantages, relativeTolerance);
      expectClose(flat.returns, golden.returns ?? [], relativeTolerance);
      expectClose(whiten(flat.advantages), golden.whitened ?? [], relativeTolerance);

      // The masked form over all tokens is the same thing with the observations left in.
      const masked = gae({
        ...common,
        offsets: batch.tokenOffsets,
        mask: batch.mask,
        rewards: batch.tokenColumn('dense_rewards'),
        values: batch.tokenColumn('values'),
      });
      expect(masked.advantages.filter((_, t) => batch.mask[t] === 1)).toEqual(flat.advantages);
      expect(
        masked.advantages.filter((_, t) => batch.mask[t] === 0).every((advantage) => advantage === 0),
      ).toBe(true);
    },
  );

  const others = cases.filter((golden) => golden.estimator !== 'gae');
  it.each(others.map((golden) => [golden.estimator, golden.batch, golden.options, golden] as const))(
    '%s on %s with %j',
    (estimator, _batch, options, golden) => {
      const batch = goldenBatch(golden.batch);
      const proximalLogprobs = batch.column('proximal');
      const behaviorLogprobs = batch.column('behavior');
      const { advantages } = computeAdvantages(
        estimator,
        {
          offsets: batch.offsets,
          rewards: batch.column(golden.rewards),
          groupIds: batch.groupIds,
          proximalLogprobs,
          behaviorLogprobs,
          sumSquaredProbabilities: batch.column('sum_squares'),
          importanceWeights:
            golden.importanceWeights === true
              ? proximalLogprobs.map((logprob, t) => Math.min(2, Math.exp(logprob - behaviorLogprobs[t])))
              : null,
          greedyReturns: batch.finalValues,
          rewardComponents: ['outcome_rewards', 'dense_rewards'].map((name) =>
            episodeSums(batch.column(name), batch.offsets),
          ),
          componentWeights: Float32Array.from(golden.componentWeights ?? []),
        },
        options,
      );
      expectClose(advantages, golden.advantages, relativeTolerance);
    },
  );
});

function episodeSums(values: Float32Array, offsets: Int32Array): Float32Array {
  return Float32Array.from({ length: offsets.length - 1 }, (_, episode) =>
    values.slice(offsets[episode], offsets[episode + 1]).reduce((sum, value) => sum + value, 0),
  );
}
