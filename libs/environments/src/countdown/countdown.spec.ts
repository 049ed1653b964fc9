import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { hashEpisodes } from '../testing/hash-episodes.js';
import { solveCountdown } from './combine-numbers.js';
import { taskContent, type CountdownTask } from './countdown-task.js';
import type { Countdown } from './countdown.js';
import { countdown, countdownFour, countdownSpec } from './index.js';
import { parseExpression } from './parse-expression.js';

describeEnvironmentContract(countdown);
describeEnvironmentContract(countdownFour);

const TASK = { nums: [3, 4, 2], target: 14 };

function answer(action: string, task: CountdownTask = TASK): ReturnType<Countdown['step']> {
  const environment = countdown.create() as Countdown;
  environment.reset({ task: { nums: [...task.nums], target: task.target }, seed: 0 });
  return environment.step(action);
}

describe('Countdown', () => {
  it('shows target and numbers, and anchors on them whatever their order', () => {
    expect(countdown.create().reset({ task: TASK, seed: 0 })).toEqual({
      text: 'target 14 numbers 3 4 2',
      anchor: '14:2,3,4',
      legalActions: null,
    });
  });

  it.each([
    [
      '2 * ( 3 + 4 )',
      { reward: 1, rewardNames: ['numbers', 'solved'], rewardValues: [0.1, 0.9], success: true },
    ],
    ['(4+3)*2', { reward: 1, parsedAction: '( 4 + 3 ) * 2', success: true }],
    ['Thought: add, then double.\nAction: (3 + 4) * 2', { reward: 1, success: true }],
    ['3 + 4 * 2', { reward: 0.1, rewardNames: ['numbers'], success: false, actionValid: true }],
    ['3 / ( 4 - 2 - 2 )', { reward: 0, success: false, actionValid: true }],
    ['2 * 7', { reward: 0, rewardNames: [], success: false, actionValid: true }],
    ['2 * ( 3 + 4 ) + 2 - 2', { reward: 0, success: false }],
    ['2 * ( 3 + 4', { reward: -0.1, rewardNames: ['invalidAction'], success: false, actionValid: false }],
    ['2 * ( 3 + 4 ) = 14', { reward: -0.1, parsedAction: null }],
  ])('scores %j', (action, expected) => {
    expect(answer(action)).toMatchObject({ ...expected, terminated: true, truncated: false });
  });

  it('counts a value within 1e-5 as the target, since 1 / 49 * 49 is 0.9999999999999999', () => {
    const environment = countdownSpec({ name: 'other', maxNumber: 99 }).create() as Countdown;
    const succeeds = (action: string, nums: number[]): boolean | null => {
      environment.reset({ task: { nums, target: 1 }, seed: 0 });
      return environment.step(action).success;
    };
    expect(succeeds('1 / 49 * 49', [1, 49, 49])).toBe(true);
    expect(succeeds('98 / 99', [98, 99])).toBe(false);
  });

  it.each([
    [{ nums: [3], target: 3 }, 'task.nums is [3]'],
    [{ nums: [3, 11, 1], target: 3 }, 'integers from 1 to 10'],
    [{ nums: [1, 2.5], target: 3 }, 'task.nums'],
    [{ nums: [1, 2], target: 101 }, 'task.target is 101'],
    [{ nums: [1, 2] }, 'task.target is undefined'],
  ])('refuses the task %j', (task, message) => {
    expect(() => countdown.create().reset({ task: task as never, seed: 0 })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });

  it.each([{ numNumbers: 6 }, { maxNumber: 1 }, { maxTarget: 5 }])('refuses the rules %j', (rules) => {
    expect(() => countdownSpec({ name: 'other', ...rules })).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error,
    );
  });
});

describe('parseExpression', () => {
  const TOKENS = ['1', '2', '3', '10', '+', '-', '*', '/', '(', ')'];

  it('accepts what JavaScript accepts without signs, and gets its value, on random tokens', () => {
    let numAccepted = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 9 }), (tokens) => {
        const text = tokens.join(' ');
        const expected = valueInJavaScript(text);
        expect(parseExpression(text)?.value ?? null).toEqual(expected);
        if (expected !== null) numAccepted += 1;
      }),
      { numRuns: 4000, seed: 1 },
    );
    expect(numAccepted).toBeGreaterThan(100);
  });

  it('gets the value of JavaScript for random expressions with any parentheses and blanks', () => {
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 5 },
        fc.integer({ min: 0, max: 999 }).map(String),
        fc
          .tuple(tie('expression'), fc.constantFrom('+', ' - ', '*', ' / '), tie('expression'))
          .map((parts) => parts.join('')),
        tie('expression').map((inner) => `( ${inner})`),
      ),
    }));
    fc.assert(
      fc.property(expression, (text) => {
        const parsed = parseExpression(text);
        if ((text.match(/\d+|\S/g) ?? []).length > 100) return;
        expect(parsed?.value).toEqual(valueInJavaScript(text));
        expect(parsed?.numbers).toEqual((text.match(/\d+/g) ?? []).map(Number));
      }),
      { numRuns: 1000, seed: 1 },
    );
  });

  it.each(['', ' ', '3 4', '-3', '+3', '2 ** 3', '2 // 3', '3.5', '1e3', '0x10', 'a', '2 + b', '()', 'process.exit()', '1234567890'])(
    'refuses %j',
    (text) => {
      expect(parseExpression(text)).toBeNull();
    },
  ); // oxfmt-ignore

  it('refuses more than 100 tokens, so nothing nests too deep', () => {
    expect(parseExpression(`${'('.repeat(49)}1${')'.repeat(49)}`)?.value).toBe(1);
    expect(parseExpression(`${'('.repeat(50)}1${')'.repeat(50)}`)).toBeNull();
    expect(parseExpression('('.repeat(1_000_000))).toBeNull();
  });

  function valueInJavaScript(text: string): number | null {
    // Signs, regular expressions between slashes, and calls are JavaScript, too.
    if (/(^|[-+*/(])\s*[-+*/]/.test(text) || /[\d)]\s*\(/.test(text)) return null;
    try {
      return runInNewContext(text) as number;
    } catch {
      return null;
    }
  }
});

describe('solveCountdown', () => {
  it.each([countdown, countdownFour])('solves every drawn task of $name in 4n - 5 tokens', (spec) => {
    for (let index = 0; index < 300; index++) {
      const { task } = spec.sampleTask({ split: 'test', index, seed: 4 });
      const { nums, target } = task as unknown as CountdownTask;
      const text = solveCountdown({ nums, target }) ?? '';
      expect(text.split(' ')).toHaveLength(4 * nums.length - 5);
      const parsed = parseExpression(text);
      expect(taskContent({ nums: parsed?.numbers ?? [], target })).toBe(taskContent({ nums, target }));
      expect(runInNewContext(text)).toBeCloseTo(target, 8);
    }
  });

  it('finds none exactly where trying all values of the numbers finds none', () => {
    for (let index = 0; index < 150; index++) {
      const random = new Pcg32(index);
      const nums = Array.from({ length: 3 }, () => 1 + random.nextBelow(10));
      const target = 1 + random.nextBelow(100);
      const reachable = valuesOf(nums).some((value) => Math.abs(value - target) < 1e-5);
      expect(solveCountdown({ nums, target }) !== null).toBe(reachable);
    }
  });

  /** All values of expressions that use each number once: every split into two parts, every operator. */
  function valuesOf(nums: readonly number[]): number[] {
    if (nums.length === 1) return [...nums];
    const values: number[] = [];
    for (let mask = 1; mask < 2 ** nums.length - 1; mask++) {
      const left = valuesOf(nums.filter((_, i) => (mask >> i) % 2 === 1));
      const right = valuesOf(nums.filter((_, i) => (mask >> i) % 2 === 0));
      for (const a of left) for (const b of right) values.push(a + b, a - b, a * b, a / b);
    }
    return values;
  }
});

describe('tasks of countdown', () => {
  it('never share target and numbers between splits, in whatever order', () => {
    const seen = new Map<string, string>();
    for (const split of ['train', 'validation', 'test'] as const) {
      for (let index = 0; index < 700; index++) {
        const { task } = countdown.sampleTask({ split, index, seed: index % 5 });
        const content = taskContent(task as unknown as CountdownTask);
        expect(seen.get(content) ?? split).toBe(split);
        seen.set(content, split);
      }
    }
  });

  it.each([
    ['countdown', '596e0aed85e79c54d72f0512925754329aaf784fed361fdda87ad9d89187c015'],
    ['countdown-four', 'c74cacb61e248bd7b16b31ca0c381bd31788c127fb6a33d4cb5e6dda132f22ac'],
  ])('are the same bytes on every machine and in every version: %s', async (name, expected) => {
    expect(await hashEpisodes(name, 100)).toBe(expected);
  });
});
