import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computePolicyLoss,
  definePolicyLoss,
  getPolicyLoss,
  listPolicyLosses,
  toOffsets,
  selectLossTokens,
  type PolicyLossInput,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';
import { sampleWithoutReplacement } from './seeded-choice.js';

/** One sequence from ratios to the proximal policy, and from ratios of the proximal to the behavior policy. */
function sequence(
  tokens: readonly { readonly ratio: number; readonly advantage: number; readonly behaviorRatio?: number }[],
): PolicyLossInput {
  const proximalLogprobs = Float32Array.from(tokens, () => -2);
  return {
    offsets: Int32Array.of(0, tokens.length),
    logprobs: Float32Array.from(tokens, ({ ratio }) => -2 + Math.log(ratio)),
    proximalLogprobs,
    behaviorLogprobs: Float32Array.from(tokens, ({ behaviorRatio = 1 }) => -2 - Math.log(behaviorRatio)),
    advantages: Float32Array.from(tokens, ({ advantage }) => advantage),
    weights: new Float32Array(tokens.length).fill(1),
  };
}

const lossesOf = (
  name: string,
  input: PolicyLossInput,
  options: Record<string, unknown> = {},
): Float32Array => computePolicyLoss(name, input, options).tokenLosses;

describe('importance weights', () => {
  const plain: PolicyLossInput = {
    offsets: Int32Array.of(0, 2),
    logprobs: Float32Array.of(-0.1, -2),
    proximalLogprobs: Float32Array.of(-0.2, -1),
    behaviorLogprobs: Float32Array.of(-0.2, -1),
    advantages: Float32Array.of(-1, -1),
    weights: Float32Array.of(0.5, 0.5),
  };

  it('of 0 leave their tokens in the ratio of the sequence, which gspo clips', () => {
    // e^mean(.1, −1) = .64 is under the bound, as in verl; the first token by itself has the ratio e^.1 and would be trained.
    const input = { ...plain, importanceWeights: Float32Array.of(1, 0) };
    expect([...computePolicyLoss('gspo', input).gradients]).toEqual([0, 0]);
  });

  it('of 0 leave their tokens in the ranks of the batch, and in the statistics', () => {
    // Covariances (A − ⅓)(logπ + 1.033) are 1.56, 1.29 and −.01.
    const input = {
      ...sequence([2, -1, 0].map((advantage) => ({ ratio: 1, advantage }))),
      logprobs: Float32Array.of(-0.1, -2, -1),
      importanceWeights: Float32Array.of(0, 1, 1),
    };
    expect([...(selectLossTokens('klCov', input) ?? [])]).toEqual([1, 0, 0]);
    expect(computePolicyLoss('ppo', input).statistics).toEqual(
      computePolicyLoss('ppo', { ...input, importanceWeights: null }).statistics,
    );
  });

  it('are one factor of a sequence in gmpo: their geometric mean', () => {
    const without = computePolicyLoss('gmpo', plain);
    const terms = computePolicyLoss('gmpo', { ...plain, importanceWeights: Float32Array.of(4, 0.25) });
    expectClose([...terms.gradients, terms.loss], [...without.gradients, without.loss], 1e-6);
    const none = computePolicyLoss('gmpo', { ...plain, importanceWeights: Float32Array.of(0, 0) });
    expectClose([...none.gradients, none.loss], [0, 0, 0], 1e-9);
  });

  it.each(listPolicyLosses().filter((name) => name !== 'gmpo'))(
    'multiply the value and gradient of each token in %s, and nothing else',
    (name) => {
      const importance = [2, 0, 0.5];
      const input = sequence([
        { ratio: 1.1, advantage: 1 },
        { ratio: 0.9, advantage: -1 },
        { ratio: 1.2, advantage: 0.5 },
      ]);
      const without = computePolicyLoss(name, input);
      const terms = computePolicyLoss(name, { ...input, importanceWeights: Float32Array.from(importance) });
      const times = (values: Float32Array) => values.map((value, t) => value * importance[t]);
      expectClose(terms.gradients, times(without.gradients), 1e-6);
      expect(terms.tokenLosses).toEqual(without.tokenLosses);
      expect(terms.loss).toBeCloseTo(
        times(without.tokenLosses).reduce((a, b) => a + b),
        5,
      );
    },
  );

  it.each<[string, Float32Array]>([
    ['importanceWeights[1] is -1, must be ≥ 0', Float32Array.of(1, -1)],
    ['importanceWeights[0] is NaN, must be finite', Float32Array.of(NaN, 1)],
    ['importanceWeights has 1 entries, must have 2', Float32Array.of(1)],
  ])('are refused: %s', (message, importanceWeights) => {
    expect(catchFault(() => computePolicyLoss('gspo', { ...plain, importanceWeights })).message).toBe(
      message,
    );
  });
});

describe('gspo', () => {
  it('holds the ratio of a sequence at e^10, and gives it no gradient beyond', () => {
    const at = (difference: number) =>
      computePolicyLoss('gspo', {
        ...sequence([{ ratio: 1, advantage: -1 }]),
        logprobs: Float32Array.of(-0.5),
        proximalLogprobs: Float32Array.of(-0.5 - difference),
      });
    expectClose(at(12.9).tokenLosses, [Math.exp(10)], 1e-6);
    expect([...at(12.9).gradients]).toEqual([0]);
    expectClose(at(9.9).gradients, [Math.exp(9.9)], 1e-4);
  });
});

describe('gmpo', () => {
  it('has no gradient where the mean log ratio is held at its limit', () => {
    // A < 0 is not held from above: log ρ = 50 in each token, and the mean stops at 20.
    const input = {
      ...sequence([
        { ratio: 1, advantage: -1 },
        { ratio: 1, advantage: -1 },
      ]),
      logprobs: Float32Array.of(-1, -1),
      proximalLogprobs: Float32Array.of(-51, -51),
    };
    const { loss, gradients } = computePolicyLoss('gmpo', input);
    expect(loss).toBeCloseTo(2 * Math.exp(20), -3);
    expect([...gradients]).toEqual([0, 0]);
  });
});

describe('the clipped tokens', () => {
  const input = sequence([
    { ratio: 1.1, advantage: 2 },
    { ratio: 1.5, advantage: 2 },
    { ratio: 0.5, advantage: 2 },
    { ratio: 1.5, advantage: -2 },
    { ratio: 0.5, advantage: -2 },
    { ratio: 1.5, advantage: 0 },
  ]);

  it('of ppo are those whose gradient the clip takes away', () => {
    const clipped = new Uint8Array(6);
    computePolicyLoss('ppo', { ...input, output: { clipped } }, { dualClip: null });
    expect([...clipped]).toEqual([0, 1, 0, 0, 1, 0]);
  });

  it.each(listPolicyLosses())(
    'of %s are as many as its clip fraction says, and it is the same loss',
    (name) => {
      const clipped = new Uint8Array(6).fill(7);
      const plain = computePolicyLoss(name, input);
      const told = computePolicyLoss(name, { ...input, output: { clipped } });
      const share = clipped.reduce((sum, bit) => sum + bit, 0) / clipped.length;
      expect(share).toBeCloseTo(plain.statistics.clipFraction, 12);
      expect(told).toEqual(plain);
    },
  );

  it('are refused a place that is too short', () => {
    const output = { clipped: new Uint8Array(5) };
    expect(() => computePolicyLoss('ppo', { ...input, output })).toThrow('output.clipped has 5 entries');
  });
});

describe('ppo', () => {
  it('clips the ratio only where that makes the loss larger', () => {
    const input = sequence([
      { ratio: 1.1, advantage: 2 },
      { ratio: 1.5, advantage: 2 },
      { ratio: 0.5, advantage: 2 },
      { ratio: 1.5, advantage: -2 },
      { ratio: 0.5, advantage: -2 },
    ]);
    const { tokenLosses, gradients, statistics } = computePolicyLoss('ppo', input, { dualClip: null });
    expectClose(tokenLosses, [-2.2, -2.4, -1, 3, 1.6], 1e-6);
    expectClose(gradients, [-2.2, 0, -1, 3, 0], 1e-6);
    expect(statistics.clipFraction).toBeCloseTo(2 / 5, 12);
  });

  it('dual clip: a bad token whose ratio exploded costs no more than c·|A|, and gets no gradient', () => {
    const { tokenLosses, gradients } = computePolicyLoss('ppo', sequence([{ ratio: 7, advantage: -1 }]));
    expectClose(tokenLosses, [3], 1e-6);
    expect([...gradients]).toEqual([0]);
    expect(lossesOf('ppo', sequence([{ ratio: 7, advantage: -1 }]), { dualClip: null })[0]).toBeCloseTo(7, 4);
  });

  it('is −A with gradient −A on policy, for every loss that is a policy gradient', () => {
    const input = sequence([1, -2, 0].map((advantage) => ({ ratio: 1, advantage })));
    for (const name of listPolicyLosses().filter(
      (loss) => !['crossEntropy', 'gmpo', 'sapoSequence', 'clipCov', 'klCov'].includes(loss),
    )) {
      expectClose(computePolicyLoss(name, input).gradients, [-1, 2, 0], 1e-5);
    }
  });

  it('holds log ratios at ±20, so that no loss overflows', () => {
    const input = {
      ...sequence([{ ratio: 1, advantage: -1 }]),
      logprobs: Float32Array.of(-0.01),
      proximalLogprobs: Float32Array.of(-500),
    };
    for (const name of listPolicyLosses())
      expect(Number.isFinite(computePolicyLoss(name, input).loss)).toBe(true);
  });
});

describe('losses against the behavior policy', () => {
  it('decoupledPpo: the clipped surrogate times π_prox/π_b, capped or filtered', () => {
    const input = sequence([
      { ratio: 1.1, advantage: 1, behaviorRatio: 2 },
      { ratio: 1.5, advantage: 1, behaviorRatio: 4 },
    ]);
    expectClose(lossesOf('decoupledPpo', input), [-2.2, -4.8], 1e-5);
    expectClose(lossesOf('decoupledPpo', input, { cap: 3 }), [-2.2, -3.6], 1e-5);
    expectClose(lossesOf('decoupledPpo', input, { cap: 3, capRule: 'filter' }), [-2.2, 0], 1e-5);
  });

  it('topr: positives keep their full weight, negatives taper by the ratio of the sequence', () => {
    // the sequence's ratio to the behavior policy is .5 · .5 = .25
    const half = { ratio: 0.5, behaviorRatio: 1 };
    const negative = computePolicyLoss(
      'topr',
      sequence([
        { ...half, advantage: -1 },
        { ...half, advantage: -1 },
      ]),
    );
    expectClose(negative.gradients, [0.25, 0.25], 1e-6);
    const positive = computePolicyLoss(
      'topr',
      sequence([
        { ...half, advantage: 1 },
        { ...half, advantage: 1 },
      ]),
    );
    expectClose(positive.gradients, [-1, -1], 1e-6);
    const likelier = computePolicyLoss('topr', sequence([{ ratio: 3, advantage: -1 }]));
    expectClose(likelier.gradients, [1], 1e-6);
  });

  it('opsm: drops bad tokens of sequences that the policy has left behind, and only those', () => {
    const left = [
      { ratio: 0.7, advantage: -1 },
      { ratio: 0.7, advantage: 1 },
    ]; // mean log ratio .357 behind
    expectClose(lossesOf('opsm', sequence(left), { delta: 0.3 }), [0, -0.7], 1e-6);
    expectClose(lossesOf('opsm', sequence(left), { delta: 0.4 }), [0.8, -0.7], 1e-6);
  });

  it('m2po: drops the largest squared log ratios until the mean is under the threshold', () => {
    // log ratios to the behavior policy 0, .1, .2, 1: squares 0, .01, .04, 1; means of the smallest 0, .005, .0167, .2625
    const input = sequence(
      [0, 0.1, 0.2, 1].map((log) => ({ ratio: 1, advantage: 1, behaviorRatio: Math.exp(log) })),
    );
    expect([...(selectLossTokens('m2po', input, { threshold: 0.04 }) ?? [])]).toEqual([0, 0, 0, 1]);
    expect([...(selectLossTokens('m2po', input, { threshold: 0.01 }) ?? [])]).toEqual([0, 0, 1, 1]);
    expectClose(lossesOf('m2po', input, { threshold: 0.04 }), [-1, -Math.exp(0.1), -Math.exp(0.2), 0], 1e-5);
  });

  it('m2po: keeps the nearest token where all are over the threshold', () => {
    const input = sequence(
      [0.6, 0.5].map((log) => ({ ratio: 1, advantage: 1, behaviorRatio: Math.exp(log) })),
    );
    expect([...(selectLossTokens('m2po', input, { threshold: 0.01 }) ?? [])]).toEqual([1, 0]);
  });

  it('m2po, form current: ranks and weighs by the current policy', () => {
    const input = sequence([
      { ratio: 2, advantage: 1 },
      { ratio: 1, advantage: 1 },
    ]);
    expect([...(selectLossTokens('m2po', input, { form: 'current' }) ?? [])]).toEqual([1, 0]);
    expect([...(selectLossTokens('m2po', input, { form: 'proximal' }) ?? [])]).toEqual([0, 0]);
    expectClose(lossesOf('m2po', input, { form: 'current', threshold: 1 }), [-2, -1], 1e-5);
  });

  it('say that they need the behavior policy', () => {
    for (const name of ['decoupledPpo', 'topr', 'opsm', 'm2po']) {
      expect(getPolicyLoss(name).needsBehaviorLogprobs).toBe(true);
      const input = { ...sequence([{ ratio: 1, advantage: 1 }]), behaviorLogprobs: null };
      expect(catchFault(() => computePolicyLoss(name, input)).code).toBe('MISSING_INPUT');
    }
  });
});

describe('covariance losses', () => {
  const input = sequence(
    [-3, -1, 0, 1, 3].map((advantage) => ({ ratio: Math.exp(advantage / 20), advantage })),
  );

  it('clipCov: the same seed takes the same tokens, all candidates can be taken', () => {
    const options = { fraction: 0.4, lowest: 0, highest: 100 };
    const draw = (seed: number): number[] => [
      ...(selectLossTokens('clipCov', input, { ...options, seed }) ?? []),
    ];
    expect(draw(1)).toEqual(draw(1));
    // means are 0: covariances 9, 1, 0, 1, 9 over 20; two of the four positive ones
    expect(draw(1).reduce((sum, bit) => sum + bit, 0)).toBe(2);
    expect(draw(1)[2]).toBe(0);
    expect(new Set(Array.from({ length: 20 }, (_, seed) => draw(seed).join())).size).toBeGreaterThan(3);
  });

  it('klCov: the share with the largest covariance, at least one token', () => {
    expect([...(selectLossTokens('klCov', input, { fraction: 0.4 }) ?? [])]).toEqual([1, 0, 0, 0, 1]);
    expect([...(selectLossTokens('klCov', input) ?? [])].reduce((sum, bit) => sum + bit, 0)).toBe(1);
  });

  it('sampleWithoutReplacement: distinct choices, each equally often', () => {
    const counts = new Float64Array(6);
    for (let seed = 0; seed < 6000; seed++) {
      const drawn = sampleWithoutReplacement([0, 1, 2, 3, 4, 5], 2, seed);
      expect(new Set(drawn).size).toBe(2);
      for (const choice of drawn) counts[choice] += 1;
    }
    // expectation 2000 each, standard deviation √(6000 · ⅓ · ⅔) = 36.5
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(4 * 36.5);
    expect(sampleWithoutReplacement([7], 3, 1)).toEqual([7]);
  });
});

interface Token {
  readonly ratio: number;
  readonly behaviorRatio: number;
  readonly advantage: number;
  readonly weight: number;
}
const token: fc.Arbitrary<Token> = fc.record({
  ratio: fc.integer({ min: 1, max: 40 }).map((x) => x / 10),
  behaviorRatio: fc.integer({ min: 5, max: 20 }).map((x) => x / 10),
  advantage: fc.integer({ min: -8, max: 8 }).map((x) => x / 4),
  weight: fc.constantFrom(0, 0.25, 0.5),
});
const batch = fc.array(fc.array(token, { maxLength: 4 }), { minLength: 1, maxLength: 6 });

function batchOf(rows: readonly (readonly Token[])[]): PolicyLossInput {
  const tokens = rows.flat();
  const weights = Float32Array.from(tokens, ({ weight }) => weight);
  return { ...sequence(tokens), weights, offsets: toOffsets(rows.map((row) => row.length)) };
}

describe.each(listPolicyLosses())('%s', (name) => {
  it('adds up over micro-batches, value and gradient', () => {
    fc.assert(
      fc.property(batch, fc.nat(6), (rows, at) => {
        const whole = batchOf(rows);
        const selected = selectLossTokens(name, whole);
        const expected = computePolicyLoss(name, whole);
        const cut = Math.min(at, rows.length);
        const numBefore = rows.slice(0, cut).flat().length;
        const parts = [rows.slice(0, cut), rows.slice(cut)].map((part, i) =>
          computePolicyLoss(name, {
            ...batchOf(part),
            selected: i === 0 ? selected?.slice(0, numBefore) : selected?.slice(numBefore),
          }),
        );
        expect(parts[0].loss + parts[1].loss).toBeCloseTo(expected.loss, 5);
        expectClose([...parts[0].gradients, ...parts[1].gradients], expected.gradients, 1e-5);
      }),
      { numRuns: 50 },
    );
  });

  it('gives no gradient to tokens of weight 0, and nothing for an empty batch', () => {
    fc.assert(
      fc.property(batch, (rows) => {
        const input = batchOf(rows);
        const { gradients } = computePolicyLoss(name, input);
        gradients.forEach((gradient, t) => {
          if (input.weights[t] === 0) expect(gradient === 0).toBe(true);
        });
      }),
      { numRuns: 30 },
    );
    const empty = computePolicyLoss(name, batchOf([[]]));
    expect(empty.loss).toBe(0);
    expect(Object.values(empty.statistics).every((value) => value === 0 || Object.is(value, -0))).toBe(true);
  });

  it('does not let tokens of weight 0 change the loss', () => {
    fc.assert(
      fc.property(batch, (rows) => {
        const input = batchOf(rows);
        const logprobs = input.logprobs.map((logprob, t) =>
          input.weights[t] === 0 ? logprob - 0.5 : logprob,
        );
        const advantages = input.advantages.map((advantage, t) => (input.weights[t] === 0 ? 9 : advantage));
        const expected = computePolicyLoss(name, input);
        const changed = computePolicyLoss(name, { ...input, logprobs, advantages });
        expect(changed.loss).toBe(expected.loss);
        expect(changed.statistics).toEqual(expected.statistics);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the registry of policy losses', () => {
  const input = sequence([{ ratio: 1, advantage: 1 }]);

  it('names the near ones, refuses taken names and bad options', () => {
    expect(catchFault(() => getPolicyLoss('gpso'))).toMatchObject({
      code: 'UNKNOWN_NAME',
      message: expect.stringContaining("no policy loss is named 'gpso'; did you mean") as string,
    });
    expect(catchFault(() => definePolicyLoss(getPolicyLoss('ppo'))).code).toBe('DUPLICATE_NAME');
    expect(catchFault(() => computePolicyLoss('ppo', input, { clipLow: 0 })).message).toBe(
      'policy loss ppo: clipLow is 0, must be a number in (0, 1]',
    );
    expect(catchFault(() => computePolicyLoss('ppo', input, { dualClip: 1 })).message).toBe(
      'policy loss ppo: dualClip is 1, must be null or a finite number > 1',
    );
    expect(catchFault(() => computePolicyLoss('ppo', input, { clip: 0.2 })).message).toContain(
      'did you mean clipHigh, clipLow',
    );
    expect(catchFault(() => computePolicyLoss('crossEntropy', input, { clip: 1 })).message).toContain(
      'it has no options',
    );
  });

  it.each<[string, Partial<PolicyLossInput>]>([
    ['logprobs[0] is NaN', { logprobs: Float32Array.of(Number.NaN) }],
    ['advantages has 2 entries, must have 1', { advantages: new Float32Array(2) }],
    ['weights[0] is Infinity', { weights: Float32Array.of(Infinity) }],
    ['offsets ends at 2', { offsets: Int32Array.of(0, 2) }],
    ['selected[0] is 2', { selected: Uint8Array.of(2) }],
  ])('refuses: %s', (message, change) => {
    expect(catchFault(() => computePolicyLoss('ppo', { ...input, ...change }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message) as string,
    });
  });
});
