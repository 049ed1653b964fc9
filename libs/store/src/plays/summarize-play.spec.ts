import { describe, expect, it } from 'vitest';
import { comparePolicies, summarizePlay, type PlayedEpisode } from './summarize-play.js';

const episode = (fields: Partial<PlayedEpisode>): PlayedEpisode => ({
  policy: 'a',
  environment: 'maze',
  split: 'test',
  seed: 0,
  task: 0,
  family: null,
  hasFailed: false,
  success: true,
  return: 1,
  numSteps: 4,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  price: null,
  ...fields,
});

/** Attempts at one task, 1 for a success. */
const attempts = (fields: Partial<PlayedEpisode>, ...outcomes: readonly number[]) =>
  outcomes.map((outcome) => episode({ ...fields, success: outcome === 1 }));

describe('summarizePlay', () => {
  it('estimates pass@k by task, with k from 1 in powers of two to the most attempts', () => {
    // 1 of 3 and 2 of 3 attempts: pass@2 is 1 − C(2,2)/C(3,2) = 2/3 and 1.
    const [row] = summarizePlay([...attempts({ task: 0 }, 1, 0, 0), ...attempts({ task: 1 }, 1, 1, 0)]);
    expect(row).toMatchObject({ numTasks: 2, numEpisodes: 6, numSuccesses: 3, successRate: 0.5 });
    const passes = row.passAtK.map(({ k, pass, numTasks }) => [k, Number(pass.toFixed(12)), numTasks]);
    expect(passes).toEqual([
      [1, 0.5, 2],
      [2, Number((5 / 6).toFixed(12)), 2],
      [3, 1, 2],
    ]);
  });

  it('leaves a task with fewer known attempts out of pass@k of more', () => {
    const [row] = summarizePlay([
      ...attempts({ task: 0 }, 0, 0),
      ...attempts({ task: 1 }, 1),
      episode({ task: 1, success: null }),
    ]);
    expect(row).toMatchObject({ numEpisodes: 3, numUnknown: 1 });
    expect(row.passAtK).toEqual([
      { k: 1, pass: 0.5, numTasks: 2 },
      { k: 2, pass: 0, numTasks: 1 },
    ]);
  });

  it('counts failed episodes beside the others, neither as successes nor as failures to solve', () => {
    const failed = episode({ task: 1, hasFailed: true, success: false, return: 0, numSteps: 0 });
    const [row] = summarizePlay([episode({ task: 0 }), failed]);
    expect(row).toMatchObject({ numEpisodes: 1, numFailed: 1, successRate: 1, meanReturn: 1, meanSteps: 4 });
  });

  it('has no success rate and the widest interval where every episode failed', () => {
    const [row] = summarizePlay([episode({ hasFailed: true, success: false })]);
    expect(row).toMatchObject({
      successRate: null,
      successLow: 0,
      successHigh: 1,
      passAtK: [],
      meanReturn: null,
    });
  });

  it('splits a cell by seed and by family where there are several, and never where there is one', () => {
    const rows = summarizePlay([
      episode({ seed: 0, family: 'go' }),
      episode({ seed: 1, family: 'open', success: false }),
    ]);
    expect(rows.map(({ seed, family, successRate }) => [seed, family, successRate])).toEqual([
      [null, null, 0.5],
      [0, null, 1],
      [1, null, 0],
      [null, 'go', 1],
      [null, 'open', 0],
    ]);
    expect(summarizePlay([episode({ family: 'go' }), episode({ task: 1, family: 'go' })])).toHaveLength(1);
  });

  it('counts tokens times price, failed episodes included, and takes the server’s own figure before it', () => {
    const price = { inputUsdPerMillion: 2, outputUsdPerMillion: 10 };
    const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, price };
    const [row] = summarizePlay([
      episode(tokens),
      episode({ ...tokens, hasFailed: true }),
      episode({ ...tokens, costUsd: 0.5 }),
      episode({ price }),
    ]);
    // 2 + 1 dollars for each of the first two.
    expect(row).toMatchObject({ costUsd: 6.5, meanInputTokens: 1_000_000, meanOutputTokens: 100_000 });
  });
});

describe('comparePolicies', () => {
  it('pairs by seed and task, and leaves out tasks that only one policy has an outcome of', () => {
    const [pair] = comparePolicies([
      episode({ policy: 'a', seed: 0, task: 0, success: false }),
      episode({ policy: 'a', seed: 1, task: 0 }),
      episode({ policy: 'a', seed: 1, task: 1 }),
      episode({ policy: 'b', seed: 1, task: 0 }),
      episode({ policy: 'b', seed: 0, task: 0 }),
      episode({ policy: 'b', seed: 1, task: 1, hasFailed: true, success: false }),
    ]);
    expect(pair).toMatchObject({ first: 'a', second: 'b', numTasks: 2, difference: 0.5 });
    expect(pair).toMatchObject({ numOnlyFirst: 0, numOnlySecond: 1, pValue: 1 });
  });

  it('compares mean rates of several attempts without McNemar’s test', () => {
    const [pair] = comparePolicies([
      ...attempts({ policy: 'a' }, 1, 0, 0, 0),
      ...attempts({ policy: 'b' }, 1, 1, 0, 0),
    ]);
    expect(pair).toMatchObject({
      numTasks: 1,
      difference: 0.25,
      differenceLow: expect.closeTo(-0.850177, 6) as number,
      pValue: null,
    });
  });

  it('compares every pair of policies, each in its own environment and split', () => {
    const pairs = comparePolicies(
      ['a', 'b', 'c'].flatMap((policy) => [
        episode({ policy }),
        episode({ policy, split: 'train' }),
        episode({ policy, environment: 'grid' }),
      ]),
    );
    expect(pairs).toHaveLength(9);
    expect(comparePolicies([episode({})])).toEqual([]);
  });
});
