import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeAdvantages,
  defineAdvantageEstimator,
  getAdvantageEstimator,
  listAdvantageEstimators,
  numberGroups,
  type AdvantageBatch,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

interface Row {
  readonly group: number;
  readonly steps: readonly (readonly number[])[];
  readonly seed: number;
}

/** A batch with every input that any estimator asks for; all of it is a function of the row, so rows can be moved. */
function batchOf(rows: readonly Row[]): AdvantageBatch {
  const episodes = rows.map((row) => row.steps.flat());
  const flat = <T>(of: (row: Row, t: number) => T): T[] =>
    rows.flatMap((row, e) => episodes[e].map((_, t) => of(row, t)));
  const steps = rows.flatMap((row) => row.steps.map((step) => ({ row, step })));
  const noise = (row: Row, t: number, salt: number): number => Math.sin(row.seed * 7.1 + t * 3.7 + salt);
  const cumulative = (lengths: readonly number[]): Int32Array => {
    const offsets = [0];
    for (const length of lengths) offsets.push(offsets[offsets.length - 1] + length);
    return Int32Array.from(offsets);
  };
  const logprobs = (salt: number): Float32Array =>
    Float32Array.from(flat((row, t) => -0.1 - Math.abs(noise(row, t, salt))));
  return {
    offsets: cumulative(episodes.map((episode) => episode.length)),
    rewards: Float32Array.from(episodes.flat()),
    groupIds: Int32Array.from(rows, (row) => row.group),
    values: Float32Array.from(flat((row, t) => noise(row, t, 1))),
    truncated: Uint8Array.from(rows, (row) => row.seed % 2),
    finalValues: Float32Array.from(rows, (row) => noise(row, 99, 1)),
    proximalLogprobs: logprobs(4),
    behaviorLogprobs: logprobs(5),
    sumSquaredProbabilities: Float32Array.from(logprobs(4), (logprob) => Math.exp(2 * logprob) + 0.05),
    episodeSteps: cumulative(rows.map((row) => row.steps.length)),
    stepOffsets: cumulative(steps.map(({ step }) => step.length)),
    anchors: Int32Array.from(steps, ({ step }) => step.length),
    greedyReturns: Float32Array.from(rows, (row) => noise(row, 0, 6)),
    rewardComponents: [1, 2].map((salt) => Float32Array.from(rows, (row) => noise(row, 0, salt))),
    componentWeights: Float32Array.of(1, 0.5),
    roleIds: Int32Array.from(rows, (row) => row.group % 2),
    roleBaselines: Float64Array.of(0.5, -0.5),
  };
}

const row = fc.record({
  group: fc.integer({ min: 0, max: 2 }),
  steps: fc.array(
    fc.array(
      fc.integer({ min: 0, max: 8 }).map((x) => x / 8),
      { maxLength: 3 },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  seed: fc.nat(1000),
});
const rows = fc.array(row, { minLength: 3, maxLength: 8 });

/** Where each token of the moved batch was before. */
function tokenOrder(before: readonly Row[], order: readonly number[]): number[] {
  const starts = [0];
  for (const { steps } of before) starts.push(starts[starts.length - 1] + steps.flat().length);
  return order.flatMap((e) => Array.from({ length: starts[e + 1] - starts[e] }, (_, t) => starts[e] + t));
}

describe.each(listAdvantageEstimators())('%s', (name) => {
  it('permutes the advantages with the episodes', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.nat()), (drawn, keys) => {
        const order = drawn.map((_, e) => ({ e, key: keys.next().value ?? 0 })).sort((a, b) => a.key - b.key);
        const moved = order.map(({ e }) => e);
        const before = computeAdvantages(name, batchOf(drawn)).advantages;
        const after = computeAdvantages(name, batchOf(moved.map((e) => drawn[e]))).advantages;
        expectClose(
          after,
          tokenOrder(drawn, moved).map((t) => before[t]),
          1e-4,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('is unchanged by an episode without tokens in its own group, except for normalisation over the batch', () => {
    fc.assert(
      fc.property(rows, (drawn) => {
        const with_ = computeAdvantages(
          name,
          batchOf([...drawn, { group: drawn.length, steps: [[]], seed: 1 }]),
        );
        const without = computeAdvantages(name, batchOf(drawn));
        expect(with_.advantages).toHaveLength(without.advantages.length);
        if (!['gpg', 'gdpo', 'topReturns'].includes(name))
          expectClose(with_.advantages, without.advantages, 1e-5);
      }),
      { numRuns: 30 },
    );
  });

  it('gives the same advantages with excluded episodes as without them, whatever their columns contain', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.boolean()), (drawn, coins) => {
        const excluded = Uint8Array.from(drawn, () => Number(coins.next().value));
        const whole = batchOf(drawn);
        const rewards = whole.rewards.slice();
        drawn.forEach((_, e) => {
          if (excluded[e] === 1) rewards.fill(Number.NaN, whole.offsets[e], whole.offsets[e + 1]);
        });
        const kept = drawn.filter((_, e) => excluded[e] === 0);
        const { advantages } = computeAdvantages(name, { ...whole, rewards, excluded });
        const alone = batchOf(kept);
        const { groupIds } = numberGroups(kept.map((one) => String(one.group)));
        const expected = computeAdvantages(name, { ...alone, groupIds }).advantages;
        const left = drawn.flatMap((one, e) => one.steps.flat().map(() => excluded[e] === 0));
        expect([...advantages.filter((_, t) => left[t])]).toEqual([...expected]);
        expect(advantages.every((advantage, t) => left[t] || advantage === 0)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('gives finite advantages, and critic targets exactly when it has a critic', () => {
    fc.assert(
      fc.property(rows, (drawn) => {
        const { advantages, returns } = computeAdvantages(name, batchOf(drawn));
        expect(advantages.every(Number.isFinite)).toBe(true);
        expect(returns !== null).toBe(getAdvantageEstimator(name).usesCritic);
      }),
      { numRuns: 30 },
    );
  });

  it('names a required input that is missing', () => {
    const { offsets, rewards, groupIds } = batchOf([{ group: 0, steps: [[1]], seed: 1 }]);
    const [needed] = getAdvantageEstimator(name).requires;
    if (needed === undefined) return;
    expect(catchFault(() => computeAdvantages(name, { offsets, rewards, groupIds }))).toMatchObject({
      code: 'MISSING_INPUT',
      message: expect.stringContaining(`${name} needs ${needed} (from `) as string,
    });
  });
});

describe('episodes are independent of one another', () => {
  it.each(['gae', 'biLevelGae', 'mcReturns', 'nStep', 'tdLambda', 'vtrace', 'remax', 'rae', 'awr'])(
    '%s: gives each episode of a batch the same advantages as alone',
    (name) => {
      const options = 'whiten' in getAdvantageEstimator(name).options ? { whiten: false, gamma: 0.9 } : {};
      fc.assert(
        fc.property(rows, (drawn) => {
          const whole = computeAdvantages(name, batchOf(drawn), options).advantages;
          const split = drawn.flatMap((one) => [
            ...computeAdvantages(name, { ...batchOf([one]), groupIds: Int32Array.of(0) }, options).advantages,
          ]);
          expectClose(whole, split, 1e-6);
        }),
        { numRuns: 30 },
      );
    },
  );

  it.each([
    'grpo',
    'drGrpo',
    'rloo',
    'opo',
    'grpoPassK',
    'maxRl',
    'optimalTokenBaseline',
    'gigpo',
    'bestOfN',
  ])('%s: gives each group of a batch the same advantages as alone', (name) => {
    fc.assert(
      fc.property(rows, (drawn) => {
        const sorted = [...drawn].sort((a, b) => a.group - b.group);
        const whole = computeAdvantages(name, batchOf(sorted)).advantages;
        const split = [0, 1, 2].flatMap((group) => {
          const members = sorted.filter((one) => one.group === group).map((one) => ({ ...one, group: 0 }));
          return members.length === 0 ? [] : [...computeAdvantages(name, batchOf(members)).advantages];
        });
        expectClose(whole, split, 1e-5);
      }),
      { numRuns: 30 },
    );
  });
});

describe('estimators of A = G − V', () => {
  // One episode of three tokens, r = 1 2 4, V = 8 16 32, γ = ½, cut by us with V = 64 after it.
  const batch = {
    offsets: Int32Array.of(0, 3),
    groupIds: Int32Array.of(0),
    rewards: Float32Array.of(1, 2, 4),
    values: Float32Array.of(8, 16, 32),
    truncated: Uint8Array.of(1),
    finalValues: Float32Array.of(64),
  };
  const of = (name: string, options: Record<string, unknown>, change: Partial<AdvantageBatch> = {}) => {
    const result = computeAdvantages(
      name,
      { ...batch, ...change },
      { gamma: 0.5, whiten: false, ...options },
    );
    return [[...result.advantages], [...(result.returns ?? [])]];
  };

  it('agree with values worked out by hand', () => {
    // G = 4 + 32, 2 + 18, 1 + 10
    expect(of('mcReturns', {})).toEqual([
      [3, 4, 4],
      [11, 20, 36],
    ]);
    // one step: 1 + 8, 2 + 16, 4 + 32; two steps: 1 + 1 + 8, 2 + 2 + 16, 4 + 32
    expect(of('nStep', { numSteps: 1 })[1]).toEqual([9, 18, 36]);
    expect(of('nStep', { numSteps: 2 })[1]).toEqual([10, 20, 36]);
    // λ = ½: 36, 2 + ½(½·32 + ½·36) = 19, 1 + ½(½·16 + ½·19) = 9.75
    expect(of('tdLambda', { lambda: 0.5 })).toEqual([
      [1.75, 3, 4],
      [9.75, 19, 36],
    ]);
  });

  it('do not bootstrap an episode that ended', () => {
    expect(of('mcReturns', {}, { truncated: Uint8Array.of(0) })[1]).toEqual([3, 4, 4]);
    expect(of('nStep', { numSteps: 2 }, { truncated: null })[1]).toEqual([10, 4, 4]);
  });

  it('whiten the advantages when the option is set', () => {
    const { advantages } = computeAdvantages('mcReturns', batch, { gamma: 0.5 });
    expect(advantages.reduce((sum, advantage) => sum + advantage, 0)).toBeCloseTo(0, 5);
  });

  it('refuse a number of steps under 1', () => {
    expect(catchFault(() => of('nStep', { numSteps: 0 })).message).toContain(
      'numSteps is 0, must be an integer ≥ 1',
    );
  });
});

describe('the registry of advantage estimators', () => {
  const batch = batchOf([{ group: 0, steps: [[1]], seed: 1 }]);

  it('names similar estimators when it refuses an unknown name', () => {
    expect(catchFault(() => getAdvantageEstimator('vtrase'))).toEqual({
      code: 'UNKNOWN_NAME',
      message: "no advantage estimator is named 'vtrase'; did you mean vtrace?",
    });
    expect(catchFault(() => getAdvantageEstimator('zzzzzzzz')).message).toContain(
      'known: awr, bestOfN, biLevelGae',
    );
  });

  it('refuses a name that is taken', () => {
    expect(catchFault(() => defineAdvantageEstimator(getAdvantageEstimator('gae'))).code).toBe(
      'DUPLICATE_NAME',
    );
  });

  it.each([
    [{ gama: 1 }, "advantage estimator gae: no option is named 'gama'; did you mean gamma?"],
    [{ gamma: 2 }, 'advantage estimator gae: gamma is 2, must be a number in [0, 1]'],
    [{ whiten: 'yes' }, 'advantage estimator gae: whiten is "yes", must be true or false'],
  ])('refuses the options %j', (options, message) => {
    expect(catchFault(() => computeAdvantages('gae', batch, options))).toEqual({
      code: 'INVALID_ARGUMENT',
      message,
    });
  });
});

describe('estimators of groups', () => {
  // Group 0 has unequal returns, 1 equal ones, 2 a single member; the last episode has no token.
  const rows: readonly Row[] = [
    { group: 0, steps: [[1, 0], [0.5]], seed: 1 },
    { group: 0, steps: [[0]], seed: 2 },
    { group: 1, steps: [[0.25], [0.25]], seed: 3 },
    { group: 1, steps: [[0.5]], seed: 4 },
    { group: 2, steps: [[1]], seed: 5 },
  ];
  const returns = Float32Array.of(1.5, 0, 0.5, 0.5, 1);
  const counts = { numGroups: 3, numSingletonGroups: 1, numEqualGroups: 1 };

  it.each(
    listAdvantageEstimators().filter((name) => getAdvantageEstimator(name).usesGroups && name !== 'maxRl'),
  )('say how many groups there are, and how many have one member or equal returns: %s', (name) => {
    const batch = { ...batchOf(rows), rewardComponents: [returns, returns.map((value) => 2 * value)] };
    expect(computeAdvantages(name, batch).statistics).toMatchObject(counts);
  });

  it('gdpo: counts a group as equal only where every component is', () => {
    const unequal = Float32Array.of(0, 0, 1, 2, 0);
    const batch = { ...batchOf(rows), rewardComponents: [returns, unequal] };
    expect(computeAdvantages('gdpo', batch).statistics).toEqual({ ...counts, numEqualGroups: 0 });
  });

  it('optimalTokenBaseline: counts only episodes with tokens', () => {
    const batch = batchOf([...rows, { group: 2, steps: [], seed: 6 }]);
    expect(computeAdvantages('optimalTokenBaseline', batch).statistics).toEqual(counts);
  });
});
