import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { requireAgent, playEpisode } from '../testing/play.js';
import { memoryBandit } from './index.js';
import { MemoryBandit } from './memory-bandit.js';

describeEnvironmentContract(memoryBandit);

describe('MemoryBandit', () => {
  it('observes only the result of the last pull', () => {
    const environment = new MemoryBandit();
    const first = environment.reset({ task: { betterArm: 'alpha' }, seed: 1 });
    expect(first).toEqual({ text: 'start', anchor: null, legalActions: ['alpha', 'beta'] });
    const texts = new Set(Array.from({ length: 7 }, () => environment.step('alpha').observation.text));
    expect([...texts].every((text) => text === 'paid' || text === 'empty')).toBe(true);
    expect(environment.step('gamma')).toMatchObject({ actionValid: false, reward: -0.1, terminated: true });
  });

  it('gives the fraction of pulls that paid as the return', () => {
    const environment = new MemoryBandit();
    environment.reset({ task: { betterArm: 'alpha' }, seed: 1 });
    const results = Array.from({ length: 8 }, () => environment.step('alpha'));
    const numPaid = results.filter((result) => result.observation.text === 'paid').length;
    expect(results.reduce((sum, result) => sum + (result.reward ?? Number.NaN), 0)).toBe(numPaid / 8);
  });

  it('draws the payouts of each member of a group independently', () => {
    const environment = new MemoryBandit();
    const episodes = Array.from({ length: 16 }, (_, member) => {
      environment.reset({ task: { betterArm: 'alpha' }, seed: 1, member });
      return Array.from({ length: 8 }, () => environment.step('alpha').observation.text).join(' ');
    });
    expect(new Set(episodes).size).toBeGreaterThan(4);
  });

  it('refuses a task without a better arm', () => {
    expect(() => new MemoryBandit().reset({ task: { betterArm: 'gamma' }, seed: 0 })).toThrowError(
      'task.betterArm is "gamma", must be one of alpha, beta',
    );
  });
});

describe('baselines of memory-bandit', () => {
  /*
   * Win-stay-lose-shift: the first pull hits the better arm in ½ of the cases. After any pull the better arm is
   * next with .9: from the better one by winning (.9), from the worse one by losing (1 − .1). A pull of the better
   * arm pays .9, of the other .1.
   */
  const hits = (0.5 + 7 * 0.9) / 8; // .85
  const winStayLoseShift = hits * 0.9 + (1 - hits) * 0.1; // .78

  /*
   * Optimum by dynamic programming over beliefs, without the agent's shortcut: the state is the probability that
   * alpha is the better arm, and both arms are tried at every state.
   */
  function optimum(pullsLeft: number, alphaIsBetter: number): number {
    if (pullsLeft === 0) return 0;
    const valueOf = (better: number): number => {
      const pays = better * 0.9 + (1 - better) * 0.1;
      return (
        pays * (1 + optimum(pullsLeft - 1, (better * 0.9) / pays)) +
        (1 - pays) * optimum(pullsLeft - 1, (better * 0.1) / (1 - pays))
      );
    };
    return Math.max(valueOf(alphaIsBetter), valueOf(1 - alphaIsBetter));
  }

  it('has payout probabilities that agree with the measured .781 and .821 within their sampling error', () => {
    expect(winStayLoseShift).toBeCloseTo(0.78, 12);
    expect(optimum(8, 0.5) / 8).toBeCloseTo(0.8224, 4);
  });

  const numEpisodes = 5000;
  it.each([
    ['random', 0.5],
    ['win-stay-lose-shift', winStayLoseShift],
    ['expert', optimum(8, 0.5) / 8],
  ])('%s reaches its expected %f, both as return and as success rate', async (name, expected) => {
    const environment = memoryBandit.create();
    const random = new Pcg32(3);
    let numSuccesses = 0;
    let sumOfReturns = 0;
    for (let index = 0; index < numEpisodes; index++) {
      const { results } = await playEpisode(environment, {
        ...memoryBandit.sampleTask({ split: 'test', index, seed: 1 }),
        maxSteps: memoryBandit.maxSteps,
        agent: requireAgent(memoryBandit, name),
        random: () => random.nextFloat(),
      });
      numSuccesses += Number(results[results.length - 1].success);
      sumOfReturns += results.reduce((sum, result) => sum + (result.reward ?? Number.NaN), 0);
    }
    // Four standard errors of a yes/no outcome; the return varies less than that.
    const tolerance = 4 * Math.sqrt((expected * (1 - expected)) / numEpisodes);
    expect(Math.abs(numSuccesses / numEpisodes - expected)).toBeLessThan(tolerance);
    expect(Math.abs(sumOfReturns / numEpisodes - expected)).toBeLessThan(tolerance);
  });
});
