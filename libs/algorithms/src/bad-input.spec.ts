import { describe, expect, it } from 'vitest';
import * as algorithms from './index.js';
import { advantageFunctions } from './testing/advantage-functions.js';
import { listBreaks, changed } from './testing/broken-arguments.js';
import { catchFault } from './testing/invalid.js';
import { otherFunctions } from './testing/other-functions.js';
import {
  critic,
  groupIds,
  loss,
  ofCritic,
  policies,
  returns,
  rewards,
  steps,
  tokens,
} from './testing/valid-arguments.js';

/*
 * Every public function that takes numbers or arrays, each of its arguments broken in every way that its kind can break: the
 * error is typed and names argument, index and value. A function that is exported and not listed here fails the last test.
 */

const table = { ...advantageFunctions, ...otherFunctions };

/** Functions without numbers to get wrong: names, registries, and what works on any array. */
const WITHOUT_NUMBERS = [
  'AlgorithmError',
  'combinationFaults',
  'defineAdvantageEstimator',
  'definePolicyLoss',
  'getAdvantageEstimator',
  'getPolicyLoss',
  'listAdvantageEstimators',
  'listPolicyLosses',
  'numberAnchors',
  'numberGroups',
  'toOffsets',
  'resolveAdvantageOptions',
  'resolvePolicyLossOptions',
  'rowLengths',
  'textSimilarity',
];

describe('bad input', () => {
  it.each(Object.entries(table))('of %s is refused with argument, index and value', (name, entry) => {
    expect(() => entry.run(entry.input as never), `${name} on valid input`).not.toThrow();
    for (const [what, broken, expected] of listBreaks(entry)) {
      let fault;
      try {
        fault = catchFault(() => entry.run(broken as never));
      } catch (error) {
        throw new Error(`${name} accepts ${what}`, { cause: error });
      }
      expect(fault.message, `${name}: ${what}`).toMatch(expected);
      expect(fault.code, `${name}: ${what}`).toBe('INVALID_ARGUMENT');
    }
  });

  it('of GAE is refused also with lambda 0', () => {
    const input = { ...critic, lambda: 0, rewards: changed(rewards, 2, NaN) };
    expect(catchFault(() => algorithms.gae(input)).message).toBe('rewards[2] is NaN, must be finite');
  });

  it('in single numbers is refused: a staleness bound, a row value', () => {
    expect(catchFault(() => algorithms.stalenessHistogram(Int32Array.of(0), -1)).message).toMatch(
      /^maxStaleness is -1/,
    );
    expect(catchFault(() => algorithms.broadcastRows(returns, Int32Array.of(0, 2, 1, 5))).message).toMatch(
      /^offsets\[2\] is 1, must not be less/,
    );
  });

  it.each(algorithms.listPolicyLosses())(
    'of the policy loss %s is refused: a value that is not finite',
    (name) => {
      for (const column of ['logprobs', 'proximalLogprobs', 'advantages', 'weights'] as const) {
        const input = { ...loss, [column]: changed(loss[column], 3, NaN) };
        expect(
          catchFault(() => algorithms.computePolicyLoss(name, input)),
          column,
        ).toEqual({
          code: 'INVALID_ARGUMENT',
          message: `${column}[3] is NaN, must be finite`,
        });
      }
    },
  );

  it.each(algorithms.listAdvantageEstimators())(
    'of the estimator %s is refused: a reward that is not finite',
    (name) => {
      const batch = {
        ...ofCritic,
        ...policies,
        ...steps,
        groupIds,
        anchors: Int32Array.of(0, 0),
        sumSquaredProbabilities: tokens(0.5),
        greedyReturns: returns,
        rewardComponents: [returns],
        componentWeights: Float32Array.of(1),
        roleIds: Int32Array.of(0, 0, 0),
        roleBaselines: Float64Array.of(0),
      };
      expect(() => algorithms.computeAdvantages(name, batch)).not.toThrow();
      const broken = { ...batch, rewards: changed(rewards, 4, Infinity) };
      expect(catchFault(() => algorithms.computeAdvantages(name, broken))).toEqual({
        code: 'INVALID_ARGUMENT',
        message: 'rewards[4] is Infinity, must be finite',
      });
    },
  );

  it('is tested for every exported function', () => {
    const functions = Object.entries(algorithms).flatMap(([name, value]) =>
      typeof value === 'function' ? [name] : [],
    );
    expect(functions.filter((name) => !(name in table) && !WITHOUT_NUMBERS.includes(name))).toEqual([]);
  });
});
