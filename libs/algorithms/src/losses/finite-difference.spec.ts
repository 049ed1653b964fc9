import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  KL_ESTIMATORS,
  categoricalEntropy,
  computePolicyLoss,
  estimateKl,
  getPolicyLoss,
  listPolicyLosses,
  toOffsets,
  valueLoss,
  type PolicyLossInput,
} from '../index.js';

/*
 * Every gradient against central differences of its value. Inputs are float32, so the step is a power of two that
 * moves them exactly; points where a clip's kink lies inside the step are left out by comparing both one-sided slopes.
 */

const STEP = 2 ** -10;
const KINK_TOLERANCE = 0.05;

interface Token {
  readonly logprob: number;
  readonly proximal: number;
  readonly behavior: number;
  readonly advantage: number;
  readonly weight: number;
}

const tokens: fc.Arbitrary<Token> = fc.record({
  logprob: fc.integer({ min: -4 * 1024, max: -650 }),
  proximal: fc.integer({ min: -600, max: 600 }),
  behavior: fc.integer({ min: -600, max: 600 }),
  advantage: fc.integer({ min: -300, max: 300 }),
  weight: fc.constantFrom(0, 0.125, 0.25),
});
const batches = fc.array(fc.array(tokens, { maxLength: 5 }), { minLength: 1, maxLength: 4 });

function inputOf(rows: readonly (readonly Token[])[]): PolicyLossInput {
  const flat = rows.flat();
  const logprobs = Float32Array.from(flat, (token) => token.logprob * STEP);
  return {
    offsets: toOffsets(rows.map((row) => row.length)),
    logprobs,
    proximalLogprobs: logprobs.map((logprob, t) => logprob + flat[t].proximal * STEP),
    behaviorLogprobs: logprobs.map((logprob, t) => logprob + flat[t].behavior * STEP),
    advantages: Float32Array.from(flat, (token) => token.advantage / 100),
    weights: Float32Array.from(flat, (token) => token.weight),
  };
}

/**
 * Stop-gradient losses hold a coefficient fixed, by evaluating their coefficient at the point: the surrogate
 * Σ gradient·logprob has the loss's gradient by construction, so for those the value is compared in closed form elsewhere.
 */
const STOP_GRADIENT = new Set(['cispo', 'dppoTv', 'dppoKl', 'topr', 'gspo', 'sapoSequence', 'vespo']);

describe('gradients of policy losses are the derivatives of their values', () => {
  const differentiable = listPolicyLosses().filter((name) => !STOP_GRADIENT.has(name));

  it('covers every loss that has no stop-gradient', () => {
    expect(differentiable).toEqual([
      'clipCov', 'crossEntropy', 'decoupledPpo', 'dro', 'gmpo', 'gpg', 'klCov', 'm2po', 'opsm', 'ppo', 'sapo',
    ]); // oxfmt-ignore
  });

  it.each(differentiable)('%s', (name) => {
    let numCompared = 0;
    const options = name === 'opsm' ? { delta: 0.05 } : name === 'm2po' ? { form: 'current' } : {};
    fc.assert(
      fc.property(batches, (rows) => {
        const input = inputOf(rows);
        const first = computePolicyLoss(name, input, options);
        // What a ranking or a mask selects is held, as in the two passes of training.
        const selected =
          getPolicyLoss(name).selectTokens === undefined ? null : selectionOf(name, input, options);
        for (let t = 0; t < input.logprobs.length; t++) {
          const lossAt = (shift: number): number => {
            const logprobs = input.logprobs.slice();
            logprobs[t] += shift;
            return computePolicyLoss(name, { ...input, logprobs, selected }, options).loss;
          };
          const ahead = (lossAt(STEP) - first.loss) / STEP;
          const behind = (first.loss - lossAt(-STEP)) / STEP;
          if (Math.abs(ahead - behind) > KINK_TOLERANCE * Math.max(0.05, Math.abs(first.gradients[t])))
            continue;
          numCompared += 1;
          const scale = Math.max(0.05, Math.abs(first.gradients[t]));
          expect(Math.abs((ahead + behind) / 2 - first.gradients[t]) / scale).toBeLessThan(1e-2);
        }
      }),
      { seed: 11, numRuns: 60 },
    );
    expect(numCompared).toBeGreaterThan(100);
  });
});

function selectionOf(
  name: string,
  input: PolicyLossInput,
  options: Record<string, unknown>,
): Uint8Array | null {
  const loss = getPolicyLoss(name);
  const defaults = Object.fromEntries(
    Object.entries(loss.options).map(([key, spec]) => [key, spec.fallback]),
  );
  return loss.selectTokens?.(input, { ...defaults, ...options } as never) ?? null;
}

describe('gradients of KL estimators', () => {
  it.each(KL_ESTIMATORS)('%s', (estimator) => {
    for (const d of [-30, -20.5, -3, -1, -0.25, 0.25, 1, 3, 15, 30]) {
      const at = (shift: number) =>
        estimateKl(Float32Array.of(d - 40 + shift), Float32Array.of(-40), { estimator });
      const slope = (at(STEP).values[0] - at(-STEP).values[0]) / (2 * STEP);
      expect(at(0).gradients[0]).toBeCloseTo(slope, 2);
    }
  });

  it.each(KL_ESTIMATORS)('%s, bias corrected', (estimator) => {
    for (const d of [-3, -1, -0.25, 0.25, 1, 3]) {
      for (const logRatio of [-30, -2, 0, 0.5, 1]) {
        const at = (shift: number) =>
          estimateKl(Float32Array.of(d - 40 + shift), Float32Array.of(-40), {
            estimator,
            proximalLogprobs: Float32Array.of(d - 40 - logRatio),
          });
        const slope = (at(STEP).values[0] - at(-STEP).values[0]) / (2 * STEP);
        expect(at(0).gradients[0] / Math.max(1, Math.abs(slope))).toBeCloseTo(
          slope / Math.max(1, Math.abs(slope)),
          2,
        );
      }
    }
  });

  it('straight-through keeps the value and takes the gradient of k2', () => {
    const [logprobs, reference] = [Float32Array.of(-1, -2), Float32Array.of(-1.5, -1)];
    const plain = estimateKl(logprobs, reference, { estimator: 'k3' });
    const straight = estimateKl(logprobs, reference, { estimator: 'k3', straightThrough: true });
    expect(straight.values).toEqual(plain.values);
    expect([...straight.gradients]).toEqual([0.5, -1]);
  });
});

describe('gradients of the critic and of the entropy', () => {
  it('value loss', () => {
    const base = {
      returns: Float32Array.of(1, 1, -1, 0.5),
      proximalValues: Float32Array.of(0, 0.9, 0, 0.4),
      weights: Float32Array.of(0.25, 0.25, 0, 0.5),
      clip: 0.25,
    };
    const values = Float32Array.of(0.5, 1.5, 3, 0.45);
    const { gradients } = valueLoss({ ...base, values });
    values.forEach((_, t) => {
      const lossAt = (shift: number): number =>
        valueLoss({ ...base, values: values.map((value, i) => value + (i === t ? shift : 0)) }).loss;
      expect(gradients[t]).toBeCloseTo((lossAt(STEP) - lossAt(-STEP)) / (2 * STEP), 4);
    });
  });

  it('entropy', () => {
    const logits = Float32Array.of(0.5, -1, 2, 0, 0, 0);
    const { gradients } = categoricalEntropy(logits, 3);
    const step = 2 ** -6;
    logits.forEach((_, v) => {
      const entropyAt = (shift: number): number =>
        categoricalEntropy(
          logits.map((logit, i) => logit + (i === v ? shift : 0)),
          3,
        ).entropies.reduce((a, b) => a + b);
      expect(gradients[v]).toBeCloseTo((entropyAt(step) - entropyAt(-step)) / (2 * step), 3);
    });
  });
});
