import { describe, expect, it } from 'vitest';
import * as algorithms from './index.js';
import { advantageFunctions } from './testing/advantage-functions.js';
import type { Argument } from './testing/broken-arguments.js';
import { catchFault } from './testing/invalid.js';
import { otherFunctions } from './testing/other-functions.js';
import { group, loss, tokens } from './testing/valid-arguments.js';

/* Arguments at the end of float32, in every public function: the results are finite, or an error names the first that is not. */

const HUGE = 3.4e38;
const PATTERNS: Readonly<Record<'values' | 'logprobs', readonly (readonly number[])[]>> = {
  values: [[1], [-1], [1, -1], [1, 0]],
  logprobs: [[-1], [-1, 0], [0, -1]],
};
const CODES = ['OVERFLOW', 'INVALID_ARGUMENT', 'UNSUPPORTED', 'INSUFFICIENT_DATA'];

describe('numbers at the end of float32', () => {
  it.each(Object.entries({ ...advantageFunctions, ...otherFunctions }))(
    'in %s give finite results or an error that names one',
    (_name, { run, input, kinds }) => {
      const patterned = (argument: string, pattern: number, scale: number): Argument => {
        const value = input[argument];
        const kind = kinds[argument] === 'leading' ? 'values' : kinds[argument];
        if (typeof value === 'number' || value === null || (kind !== 'values' && kind !== 'logprobs'))
          return value;
        const signs = PATTERNS[kind][pattern % PATTERNS[kind].length];
        return value.map((_: number, i: number) => scale * signs[i % signs.length]) as Argument;
      };
      const changes = [...Object.keys(kinds).map((argument) => [argument]), Object.keys(kinds)];
      for (const changed of changes) {
        for (const pattern of PATTERNS.values.keys()) {
          const at = (scale: number) => {
            const broken = changed.map((argument) => [argument, patterned(argument, pattern, scale)]);
            return () => run({ ...input, ...Object.fromEntries(broken) } as never);
          };
          expectFinite(at(HUGE), at(1));
        }
      }
    },
  );

  it('are named where the loss of a token, or the sum of all losses, is beyond them', () => {
    const steep = { ...loss, logprobs: tokens(-2), advantages: tokens(-2e38) };
    expect(catchFault(() => algorithms.computePolicyLoss('gpg', steep))).toEqual({
      code: 'OVERFLOW',
      message:
        'tokenLosses[0] is -Infinity, must be within ±3.4e38, the range of float32: an input is too large',
    });
    // The ratio is e: −A·e is 5.4e38. Where it is 1, five losses of 2e38 are of float32, and their sum is not.
    const ratio = { ...steep, logprobs: tokens(-0.1), proximalLogprobs: tokens(-1.1) };
    const unclipped = { dualClip: null };
    expect(catchFault(() => algorithms.computePolicyLoss('ppo', ratio, unclipped)).message).toMatch(
      /^tokenLosses\[0\] is Infinity, must be within/,
    );
    const level = { ...ratio, logprobs: tokens(-1.1), weights: tokens(1) };
    const { code, message } = catchFault(() => algorithms.computePolicyLoss('ppo', level, unclipped));
    expect(code).toBe('OVERFLOW');
    expect(message).toMatch(/^loss is 9\.99\d*e\+38, must be within ±3\.4e38/);
  });

  it('are no returns beyond them, which only float64 can store', () => {
    expect(catchFault(() => algorithms.grpo({ ...group, returns: Float64Array.of(0, 1e39, 0) }))).toEqual({
      code: 'INVALID_ARGUMENT',
      message: 'returns[1] is 1e+39, must be within ±3.4e38, the range of float32',
    });
  });
});

describe('a logprob', () => {
  it.each(algorithms.listPolicyLosses())(
    'over 0 is refused in the policy loss %s, also without a weight',
    (name) => {
      for (const column of ['logprobs', 'proximalLogprobs', 'behaviorLogprobs'] as const) {
        const broken = { ...loss, weights: tokens(0), [column]: Float32Array.of(-1, -1, 0.002, -1, -1) };
        expect(
          catchFault(() => algorithms.computePolicyLoss(name, broken)),
          column,
        ).toEqual({
          code: 'INVALID_ARGUMENT',
          message: `${column}[2] is ${Math.fround(0.002)}, must be a logprob, ≤ 0`,
        });
      }
    },
  );

  it('may be a rounding error over 0', () => {
    const rounded = { ...loss, logprobs: tokens(1e-4) };
    expect(() => algorithms.computePolicyLoss('ppo', rounded)).not.toThrow();
  });
});

/** @param usual the same with ordinary numbers; where that gives NaN, not available, so may the other */
function expectFinite(run: () => unknown, usual: () => unknown): void {
  const [result, ordinary] = [run, usual].map((call) => {
    try {
      return call();
    } catch (error) {
      expect(error).toBeInstanceOf(algorithms.AlgorithmError);
      expect(CODES).toContain((error as algorithms.AlgorithmError).code);
      return null;
    }
  });
  // A refusal gives its reason; its diagnostics say how far off the weights are.
  if ((result as { kind?: string } | null)?.kind === 'refused') return;
  const available = new Map(numbersIn(ordinary));
  for (const [path, value] of numbersIn(result)) {
    const isUnavailable = Number.isNaN(value) && Number.isNaN(available.get(path) ?? 0);
    if (!isUnavailable) expect(Math.abs(value), path).toBeLessThan(Infinity);
  }
}

/** Every number in a result, with its path. */
function numbersIn(result: unknown, path = ''): [string, number][] {
  if (typeof result === 'number') return [[path, result]];
  if (typeof result !== 'object' || result === null) return [];
  return Object.entries(result).flatMap(([name, value]) => numbersIn(value, `${path}.${name}`));
}
