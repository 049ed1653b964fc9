import { describe, expect, it } from 'vitest';
import {
  combinationFaults,
  correctionMetrics,
  importanceWeights,
  rejectTokens,
  stalenessHistogram,
  type Combination,
  type CorrectionInput,
  type CorrectionMetrics,
  type ImportanceOptions,
  type RejectionRule,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { goldenBatch, readGolden } from '../testing/golden.js';
import { catchFault } from '../testing/invalid.js';

interface Golden {
  readonly relativeTolerance: number;
  readonly weights: readonly { batch: string; options: ImportanceOptions; weights: number[] }[];
  readonly rejections: readonly { batch: string; rules: RejectionRule[]; keep: number[] }[];
  readonly metrics: readonly ({ batch: string } & CorrectionMetrics)[];
}
const golden = readGolden('corrections.json') as Golden;

function correctionInput(name: string): CorrectionInput {
  const batch = goldenBatch(name);
  return {
    offsets: batch.offsets,
    proximalLogprobs: batch.column('proximal'),
    behaviorLogprobs: batch.column('behavior'),
  };
}

describe('rollout correction: agrees with verl 0.9.1', () => {
  it.each(golden.weights.map((c) => [c.batch, c.options, c.weights] as const))(
    'weights on %s with %j',
    (name, options, expected) => {
      expectClose(
        importanceWeights(correctionInput(name), options).weights,
        expected,
        golden.relativeTolerance,
      );
    },
  );

  it.each(golden.rejections.map((c) => [c.batch, c.rules, c.keep] as const))(
    'rejection on %s with %j',
    (name, rules, expected) => {
      const { keep } = rejectTokens(correctionInput(name), { rules });
      expect([...keep]).toEqual(expected);
    },
  );

  it('golden cases: every rejection keeps some tokens and drops others', () => {
    const mixed = golden.rejections.filter(({ keep }) => keep.includes(0) && keep.includes(1));
    expect(mixed.length).toBeGreaterThan(10);
  });

  it.each(golden.metrics.map((c) => [c.batch, c] as const))(
    'metrics on %s',
    (name, { batch: _batch, ...expected }) => {
      const actual = correctionMetrics(correctionInput(name));
      for (const [metric, value] of Object.entries(expected)) {
        expectClose([actual[metric as keyof CorrectionMetrics]], [value], golden.relativeTolerance);
      }
    },
  );
});

/** Sequences of tokens with these ratios to the behavior policy. */
function withRatios(...sequences: readonly (readonly number[])[]): CorrectionInput {
  const ratios = sequences.flat();
  const offsets = [0];
  for (const sequence of sequences) offsets.push(offsets[offsets.length - 1] + sequence.length);
  return {
    offsets: Int32Array.from(offsets),
    proximalLogprobs: Float32Array.from(ratios, (ratio) => -5 + Math.log(ratio)),
    behaviorLogprobs: Float32Array.from(ratios, () => -5),
  };
}

describe('importanceWeights', () => {
  it('geometric level: gives each token the geometric mean of its sequence', () => {
    const { weights } = importanceWeights(withRatios([4, 1], [], [8, 1, 1]), { level: 'geometric', cap: 5 });
    expectClose(weights, [2, 2, 2, 2, 2], 1e-5);
  });

  it('computes the effective sample size from raw weights, not from truncated ones', () => {
    const input = withRatios([100, 1, 1, 1]);
    const { effectiveSampleFraction, maxRawWeight, highFraction } = importanceWeights(input, {
      level: 'token',
      cap: 1,
    });
    // truncated all weights are 1, which would look perfect; raw (103)²/(4 · 10003)
    expect(effectiveSampleFraction).toBeCloseTo(103 ** 2 / (4 * 10003), 4);
    expect(maxRawWeight).toBeCloseTo(100, 3);
    expect(highFraction).toBe(0.25);
  });

  it('leaves masked tokens out, also from the mean of a sequence', () => {
    const input = { ...withRatios([9, 2, 2]), keep: Uint8Array.of(0, 1, 1) };
    expectClose(importanceWeights(input, { level: 'geometric', cap: 5 }).weights, [0, 2, 2], 1e-5);
    expectClose(importanceWeights(input, { level: 'token', cap: 1.5 }).weights, [0, 1.5, 1.5], 1e-5);
  });

  it('sequence level: warns of the raw weight 13,780 of 100 tokens with ratio 1.1, the geometric level does not', () => {
    const input = withRatios(new Array<number>(100).fill(1.1));
    const { maxRawWeight, warnings } = importanceWeights(input, { level: 'sequence', cap: 2 });
    expect(maxRawWeight / 13780).toBeCloseTo(1, 2);
    expect(warnings).toEqual([expect.stringContaining("consider level 'geometric'")]);
    expect(importanceWeights(input, { level: 'geometric', cap: 2 })).toMatchObject({ warnings: [] });
  });

  it('accepts an empty batch', () => {
    const empty = importanceWeights(withRatios(), { level: 'token', cap: 2, normalize: true });
    expect(empty.weights).toHaveLength(0);
    expect(empty.effectiveSampleFraction).toBeNaN();
  });

  it('refuses an unknown level', () => {
    expect(
      catchFault(() => importanceWeights(withRatios([1]), { level: 'sequense' as never, cap: 1 })),
    ).toMatchObject({
      code: 'UNKNOWN_NAME',
      message: expect.stringContaining('did you mean sequence?') as string,
    });
  });

  it('counts the weights under the floor, and under 1/cap where there is no floor', () => {
    const input = withRatios([0.1, 0.3, 0.6, 1, 3]);
    const options = { level: 'token', cap: 2 } as const;
    expect(importanceWeights(input, options).lowFraction).toBe(2 / 5);
    expect(importanceWeights(input, { ...options, floor: 0.2 }).lowFraction).toBe(1 / 5);
    expect(importanceWeights(input, { ...options, floor: 0.2 }).highFraction).toBe(1 / 5);
  });

  it('refuses a floor above the cap, and a missing logprob', () => {
    expect(
      catchFault(() => importanceWeights(withRatios([1]), { level: 'token', cap: 1, floor: 2 })).message,
    ).toContain('floor is 2');
    const missing = { ...withRatios([1]), behaviorLogprobs: Float32Array.of(Number.NaN) };
    expect(catchFault(() => importanceWeights(missing, { level: 'token', cap: 1 })).message).toBe(
      'behaviorLogprobs[0] is NaN, must be finite',
    );
  });
});

describe('rejectTokens', () => {
  it('bounds the ratio itself, so an asymmetric range is not inverted', () => {
    const input = withRatios([0.6, 0.9, 1.8, 2.5]);
    const rules: RejectionRule[] = [{ statistic: 'k1', scope: 'token', low: 0.8, high: 2 }];
    expect([...rejectTokens(input, { rules }).keep]).toEqual([0, 1, 1, 0]);
  });

  it('rejects a whole sequence for one vetoed token', () => {
    const { keep, rejectedFraction, touchedSequenceFraction } = rejectTokens(
      withRatios([1, 1e-5], [1, 0.5]),
      {
        rules: [],
        vetoBelow: 1e-4,
      },
    );
    expect([...keep]).toEqual([0, 0, 1, 1]);
    expect([rejectedFraction, touchedSequenceFraction]).toEqual([0.5, 0.5]);
  });

  it('sequenceMax: rejects each sequence in which one token exceeds the upper bound, whatever its mean', () => {
    const input = withRatios([1, 2.1, 0.1], [1.9, 1.9], [0.01, 0.01]);
    const largest = { statistic: 'k1', scope: 'sequenceMax' } as const;
    expect([...rejectTokens(input, { rules: [{ ...largest, high: 2 }] }).keep]).toEqual([
      0, 0, 0, 1, 1, 1, 1,
    ]);
    expect([...rejectTokens(input, { rules: [{ ...largest, low: 0.5, high: 2 }] }).keep]).toEqual([
      0, 0, 0, 1, 1, 0, 0,
    ]);
  });

  it('bounds a ratio only from above when no lower bound is given', () => {
    const rules: RejectionRule[] = [{ statistic: 'k1', scope: 'token', high: 2 }];
    expect([...rejectTokens(withRatios([1e-6, 1, 2.5]), { rules }).keep]).toEqual([1, 1, 0]);
  });

  it('neither restores nor counts tokens that were masked before', () => {
    const input = { ...withRatios([1, 9, 1]), keep: Uint8Array.of(1, 0, 1) };
    const { keep, rejectedFraction } = rejectTokens(input, {
      rules: [{ statistic: 'k2', scope: 'sequenceMax', high: 0.1 }],
    });
    expect([...keep]).toEqual([1, 0, 1]);
    expect(rejectedFraction).toBe(0);
  });

  it('refuses contradictory bounds', () => {
    const reject = (rule: RejectionRule) =>
      catchFault(() => rejectTokens(withRatios([1]), { rules: [rule] })).message;
    expect(reject({ statistic: 'k1', scope: 'token', low: 2, high: 1 })).toBe(
      'rules[0].low is 2, must not be more than high, 1',
    );
    expect(reject({ statistic: 'k3', scope: 'token', high: 0 })).toContain('rules[0].high is 0');
  });
});

describe('stalenessHistogram', () => {
  it('counts tokens by version, the oldest together', () => {
    expect([...stalenessHistogram(Int32Array.of(0, 0, 1, 2, 3, 9), 2)]).toEqual([2, 1, 1, 2]);
    expect(catchFault(() => stalenessHistogram(Int32Array.of(-1), 2)).message).toBe(
      'staleness[0] is -1, must be ≥ 0',
    );
  });
});

describe('combinationFaults', () => {
  const sound: Combination = {
    advantage: 'gae',
    policyLoss: 'ppo',
    importanceWeights: true,
    proximal: 'recomputed',
    valueCoefficient: 0.5,
    groupSize: 1,
  };

  it('finds no fault in valid combinations', () => {
    expect(combinationFaults(sound)).toEqual([]);
    expect(combinationFaults({ ...sound, advantage: 'gigpo', valueCoefficient: 0, groupSize: 8 })).toEqual(
      [],
    );
  });

  it.each<[string, Partial<Combination>]>([
    ['importance weights on decoupledPpo', { policyLoss: 'decoupledPpo' }],
    ['importance weights on vtrace', { advantage: 'vtrace' }],
    [
      'decoupledPpo with vtrace',
      { advantage: 'vtrace', policyLoss: 'decoupledPpo', importanceWeights: false },
    ],
    ['importance weights with the behavior policy as proximal', { proximal: 'behavior' }],
    [
      'vtrace with the behavior policy as proximal',
      { advantage: 'vtrace', importanceWeights: false, proximal: 'behavior' },
    ],
    [
      'decoupledPpo with the behavior policy as proximal',
      { policyLoss: 'decoupledPpo', importanceWeights: false, proximal: 'behavior' },
    ],
    ['valueCoefficient is 0.5, must be 0, as grpo has no critic', { advantage: 'grpo', groupSize: 8 }],
    ['valueCoefficient is 0, must be positive, as gae needs a trained critic', { valueCoefficient: 0 }],
    ['groupSize is 1, must be at least 2', { advantage: 'rloo', valueCoefficient: 0 }],
  ])('refuses: %s', (reason, change) => {
    expect(combinationFaults({ ...sound, ...change })).toEqual(
      expect.arrayContaining([expect.stringContaining(reason)]),
    );
  });
});
