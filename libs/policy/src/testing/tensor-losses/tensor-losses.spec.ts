import {
  aggregationWeights,
  AGGREGATIONS,
  categoricalEntropy,
  computePolicyLoss,
  countForAggregation,
  definePolicyLoss,
  estimateKl,
  getPolicyLoss,
  KL_ESTIMATORS,
  listPolicyLosses,
  toOffsets,
  selectLossTokens,
  valueLoss,
  type PolicyLossInput,
} from '@retrace/algorithms';
import * as tf from '@retrace/compute/tensorflow';
import { describe, expect, it } from 'vitest';
import { onEachBackend } from '@retrace/compute/testing';
import { seededRandom } from '../random-batch.js';
import type { TensorLossInput } from './tensor-loss.js';
import { listTensorPolicyLosses, tensorPolicyLoss } from './tensor-policy-loss.js';
import { tensorEntropy, tensorKl, tensorValueLoss } from './tensor-regularizers.js';

const names = listPolicyLosses();

/** Options under which a rule of the loss acts on so few tokens, besides the published ones. */
const variants: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ...names.map((name) => [name, {}] as const),
  ['ppo', { dualClip: null, clipLow: 0.1, clipHigh: 0.3 }],
  ['ppo', { dualClip: 1.05 }],
  ['gspo', { clipLow: 0.05, clipHigh: 0.1 }],
  ['gspo', { clipLow: 0.05, clipHigh: 0.1, dualClip: 1.15 }],
  ['gmpo', { clipLow: 0.1, clipHigh: 0.2 }],
  ['cispo', { clipLow: 0.1, clipHigh: 0.1 }],
  ['dppoTv', { deltaLow: 0.02, deltaHigh: 0.03, maxRatio: 1.1 }],
  ['dppoKl', { deltaLow: 0.005, deltaHigh: 0.01, maxRatio: 1.1 }],
  ['clipCov', { fraction: 0.3, lowest: -10, highest: 10, seed: 3 }],
  ['klCov', { fraction: 0.3, beta: 0.7 }],
  ['decoupledPpo', { cap: 1.1 }],
  ['decoupledPpo', { cap: 1.1, capRule: 'filter' }],
  ['decoupledPpo', { cap: null }],
  ['m2po', { threshold: 0.01 }],
  ['m2po', { threshold: 0.01, form: 'current' }],
  ['opsm', { delta: 0 }],
];

/** Ragged sequences, one of them empty, one without a weight, ratios inside and outside of every clip. */
function randomInput(seed: number): PolicyLossInput {
  const random = seededRandom(seed);
  const lengths = [27, 0, 1, 32, 25, 60];
  const offsets = toOffsets(Int32Array.from(lengths));
  const numTokens = offsets[lengths.length];
  const column = (draw: (t: number) => number) => Float32Array.from({ length: numTokens }, (_, t) => draw(t));
  const around = (center: Float32Array, spread: number) => center.map((x) => x + spread * (2 * random() - 1));
  const logprobs = column(() => -0.95 - 2.5 * random());
  return {
    offsets,
    logprobs,
    proximalLogprobs: around(logprobs, 0.9),
    behaviorLogprobs: around(logprobs, 0.5),
    advantages: column(() => 2 * random() - 1),
    weights: column((t) =>
      random() < 0.2 || (t >= offsets[4] && t < offsets[5]) ? 0 : 0.02 + 0.05 * random(),
    ),
    importanceWeights: column(() => (random() < 0.1 ? 0 : 0.5 + random())),
  };
}

function asTensors(input: PolicyLossInput): Omit<TensorLossInput, 'logprobs'> {
  const tensor = (column: ArrayLike<number>) => tf.tensor1d(Float32Array.from(column));
  return {
    offsets: input.offsets,
    proximalLogprobs: tensor(input.proximalLogprobs),
    advantages: tensor(input.advantages),
    weights: tensor(input.weights),
    behaviorLogprobs: input.behaviorLogprobs ? tensor(input.behaviorLogprobs) : null,
    importanceWeights: input.importanceWeights ? tensor(input.importanceWeights) : null,
    selected: input.selected ? tensor(input.selected) : null,
  };
}

interface Result {
  readonly value: number;
  readonly gradients: Float32Array;
}

/** Value and what the tape gives as its gradient, by a column. */
function differentiate(column: Float32Array, loss: (x: tf.Tensor) => tf.Scalar): Result {
  return tf.tidy(() => {
    const { value, grad } = tf.valueAndGrad(loss as (x: tf.Tensor) => tf.Tensor)(tf.tensor1d(column));
    return { value: value.dataSync()[0], gradients: grad.dataSync() as Float32Array };
  });
}

function expectAgreement(actual: Result, expected: { value: number; gradients: Float32Array }): void {
  expect(Math.abs(actual.value - expected.value)).toBeLessThan(1e-5);
  expect(actual.gradients).toHaveLength(expected.gradients.length);
  actual.gradients.forEach((gradient, t) => {
    expect(Math.abs(gradient - expected.gradients[t]), `token ${t}`).toBeLessThan(1e-5);
  });
  expect(Math.max(...expected.gradients.map(Math.abs))).toBeGreaterThan(1e-3);
}

it('tensor losses: exist for every policy loss of the registry', () => {
  expect(listTensorPolicyLosses()).toEqual(names);
});

await onEachBackend(
  'tensor losses have the value of the pure functions, and their gradient by autodiff',
  () => {
    it.each(variants)('%s %j', (name, options) => {
      const drawn = randomInput(1);
      const input = { ...drawn, selected: selectLossTokens(name, drawn, options) };
      const { loss: value, gradients } = computePolicyLoss(name, input, options);
      const actual = differentiate(input.logprobs, (logprobs) =>
        tensorPolicyLoss(name, { ...asTensors(input), logprobs }, options),
      );
      expectAgreement(actual, { value, gradients });
    });

    it.each(AGGREGATIONS)('under the weights of %s, rejected tokens left out', (aggregation) => {
      const drawn = randomInput(4);
      const keep = Uint8Array.from(drawn.weights, (weight) => Number(weight !== 0));
      const groupIds = Int32Array.of(0, 0, 1, 1, 2, 2);
      const counts = countForAggregation({ offsets: drawn.offsets, groupIds });
      const weights = aggregationWeights(
        { offsets: drawn.offsets, groupIds, keep },
        { aggregation, counts, horizon: 9 },
      );
      const input = { ...drawn, weights };
      const { loss: value, gradients } = computePolicyLoss('gspo', input, { clipLow: 0.2, clipHigh: 0.2 });
      const actual = differentiate(input.logprobs, (logprobs) =>
        tensorPolicyLoss('gspo', { ...asTensors(input), logprobs }, { clipLow: 0.2, clipHigh: 0.2 }),
      );
      expectAgreement(
        { value: actual.value / Math.max(1, Math.abs(value)), gradients: actual.gradients },
        { value: value / Math.max(1, Math.abs(value)), gradients },
      );
    });

    const booleans = [false, true];
    it.each(
      KL_ESTIMATORS.flatMap((estimator) =>
        booleans.flatMap((through) => booleans.map((corrected) => [estimator, through, corrected] as const)),
      ),
    )('KL %s, straight through: %s, bias corrected: %s', (estimator, straightThrough, corrected) => {
      const { logprobs, proximalLogprobs: reference, behaviorLogprobs, weights } = randomInput(5);
      const proximal = corrected ? (behaviorLogprobs ?? null) : null;
      const options = { estimator, straightThrough };
      const kl = estimateKl(logprobs, reference, { ...options, proximalLogprobs: proximal });
      const actual = differentiate(logprobs, (x) => {
        const tensors = { ...options, proximalLogprobs: proximal && tf.tensor1d(proximal) };
        return tf.sum(tf.mul(tf.tensor1d(weights), tensorKl(x, tf.tensor1d(reference), tensors)));
      });
      expectAgreement(actual, {
        value: kl.values.reduce((sum, value, t) => sum + weights[t] * value, 0),
        gradients: kl.gradients.map((gradient, t) => weights[t] * gradient),
      });
    });

    it('entropy: equals the entropy of the logits', () => {
      const random = seededRandom(6);
      const [numRows, numCategories] = [9, 7];
      const logits = Float32Array.from({ length: numRows * numCategories }, () => 6 * random() - 3);
      const { entropies, gradients } = categoricalEntropy(logits, numCategories);
      const actual = differentiate(logits, (x) =>
        tf.sum(tensorEntropy(tf.reshape(x, [numRows, numCategories]))),
      );
      expectAgreement(
        { ...actual, value: actual.value / numRows },
        { value: entropies.reduce((sum, entropy) => sum + entropy, 0) / numRows, gradients },
      );
    });

    it.each([null, 0.2])('the value loss with a clip of %s', (clip) => {
      const { logprobs: values, proximalLogprobs: returns, behaviorLogprobs, weights } = randomInput(7);
      const proximalValues = behaviorLogprobs as Float32Array;
      const { loss: value, gradients } = valueLoss({ values, returns, proximalValues, weights, clip });
      const tensors = { returns: tf.tensor1d(returns), proximalValues: tf.tensor1d(proximalValues) };
      const actual = differentiate(values, (x) =>
        tensorValueLoss({ ...tensors, values: x, weights: tf.tensor1d(weights), clip }),
      );
      expectAgreement(actual, { value, gradients });
    });

    it('evaluation: leaves no tensor behind but the loss', () => {
      const input = randomInput(8);
      const tensors = { ...asTensors(input), logprobs: tf.tensor1d(input.logprobs) };
      const before = tf.memory().numTensors;
      tensorPolicyLoss('gspo', tensors).dispose();
      tensorKl(tensors.logprobs, tensors.proximalLogprobs, { estimator: 'k3' }).dispose();
      expect(tf.memory().numTensors).toBe(before);
    });
  },
);

describe('tensorPolicyLoss refuses', () => {
  const input = randomInput(9);
  const refusalOf = (name: string, change: Partial<TensorLossInput> = {}, options = {}) => {
    try {
      tensorPolicyLoss(
        name,
        { ...asTensors(input), logprobs: tf.tensor1d(input.logprobs), ...change },
        options,
      );
    } catch (error) {
      return error as { code: string; message: string };
    }
    throw new Error('nothing was refused');
  };

  it('an unknown loss, naming the near ones, and one that is not there as tensors', () => {
    expect(refusalOf('gmppo')).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('did you mean gmpo'),
    });
    definePolicyLoss({ ...getPolicyLoss('ppo'), name: 'ownLoss' });
    expect(refusalOf('ownLoss').message).toContain('policy loss ownLoss has no tensor expression');
  });

  it('options that break their rule', () => {
    expect(refusalOf('ppo', {}, { clipLow: 0 }).message).toContain('clipLow is 0');
  });

  it('columns that are missing or of another length', () => {
    expect(refusalOf('topr', { behaviorLogprobs: null })).toMatchObject({
      code: 'INVALID_BATCH',
      message: expect.stringContaining('behaviorLogprobs is null'),
    });
    expect(refusalOf('klCov', { selected: null }).message).toContain('selected is null');
    expect(refusalOf('ppo', { advantages: tf.zeros([3]) }).message).toBe(
      'advantages has shape [3], must be [145], the tokens of offsets',
    );
    expect(() =>
      tensorValueLoss({
        values: tf.zeros([1]),
        returns: tf.zeros([1]),
        proximalValues: null,
        weights: tf.ones([1]),
        clip: 0.2,
      }),
    ).toThrow(/proximalValues is null/);
  });
});
