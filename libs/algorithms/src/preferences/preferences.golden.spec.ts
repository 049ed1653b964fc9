import { describe, expect, it } from 'vitest';
import { preferenceLoss, rowLengths, type PreferenceLossOptions } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { goldenBatch, readGolden } from '../testing/golden.js';

interface Golden {
  readonly relativeTolerance: number;
  readonly pairs: readonly (readonly [chosen: number, rejected: number])[];
  readonly losses: readonly {
    readonly batch: string;
    readonly options: PreferenceLossOptions;
    readonly value: number;
    readonly gradients: number[];
    readonly chosenReward: number;
    readonly rejectedReward: number;
    readonly accuracy: number;
    readonly margin: number;
  }[];
}
const golden = readGolden('preferences.json') as Golden;
const chosen = Int32Array.from(golden.pairs, ([first]) => first);
const rejected = Int32Array.from(golden.pairs, ([, second]) => second);

describe('losses over pairs: agree with TRL 1.16', () => {
  it.each(golden.losses.map((expected) => [expected.batch, expected.options, expected] as const))(
    'on %s with %j',
    (name, options, expected) => {
      const { offsets, column } = goldenBatch(name);
      const terms = preferenceLoss(
        {
          offsets,
          logprobs: column('logprobs'),
          referenceLogprobs: column('reference'),
          chosen,
          rejected,
        },
        options,
      );
      expectClose([terms.loss], [expected.value], golden.relativeTolerance);
      expectClose(terms.gradients, expected.gradients, golden.relativeTolerance);
      // TRL logs rewards of sums, also where the loss is of means.
      const lengths = rowLengths(offsets);
      const sums = (rewards: Float32Array, episodes: Int32Array) =>
        rewards.map((reward, pair) => (options.lengthNormalized ? reward * lengths[episodes[pair]] : reward));
      const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
      const [better, worse] = [sums(terms.chosenRewards, chosen), sums(terms.rejectedRewards, rejected)];
      expectClose(
        [mean(better), mean(worse), mean(better.map((reward, pair) => reward - worse[pair]))],
        [expected.chosenReward, expected.rejectedReward, expected.margin],
        golden.relativeTolerance,
      );
      expect(mean(better.map((reward, pair) => Number(reward > worse[pair])))).toBe(expected.accuracy);
    },
  );
});
