import { describe, expect, it } from 'vitest';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { Bandit } from './bandit.js';
import { bandit } from './index.js';

describeEnvironmentContract(bandit);

const TASK = { arms: ['phoenix', 'dragon'] };

describe('Bandit', () => {
  it('shows the arms in the order of the task', () => {
    expect(new Bandit().reset({ task: TASK, seed: 1 })).toEqual({
      text: 'choose phoenix or dragon',
      anchor: 'phoenix|dragon',
      legalActions: ['phoenix', 'dragon'],
    });
  });

  it('always pays 0.1 for the low arm, which is no success', () => {
    const environment = new Bandit();
    for (let seed = 0; seed < 100; seed++) {
      environment.reset({ task: TASK, seed });
      expect(environment.step('phoenix')).toMatchObject({ reward: 0.1, success: false, terminated: true });
    }
  });

  it('pays 1 for the high arm in a quarter of the cases, else 0, and both are success', () => {
    const environment = new Bandit();
    const numPulls = 10_000;
    let numPaid = 0;
    for (let seed = 0; seed < numPulls; seed++) {
      environment.reset({ task: TASK, seed });
      const { reward, success } = environment.step('dragon');
      expect([0, 1]).toContain(reward);
      expect(success).toBe(true);
      numPaid += reward ?? Number.NaN;
    }
    expect(Math.abs(numPaid / numPulls - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / numPulls));
  });

  it('draws the payouts of each member of a group independently', () => {
    const environment = new Bandit();
    const payouts = Array.from({ length: 64 }, (_, member) => {
      environment.reset({ task: TASK, seed: 1, member });
      return environment.step('dragon').reward;
    });
    expect(new Set(payouts)).toEqual(new Set([0, 1]));
  });

  it('treats an arm that the task does not have as invalid', () => {
    const environment = new Bandit();
    environment.reset({ task: TASK, seed: 1 });
    expect(environment.step('tiger')).toMatchObject({
      parsedAction: 'tiger',
      actionValid: false,
      reward: -0.1,
      terminated: true,
      success: false,
    });
  });

  it.each([[{ arms: ['dragon'] }], [{ arms: ['dragon', 'tiger'] }], [{ arms: ['dragon', 'cat'] }]])(
    'refuses the task %j',
    (task) => {
      expect(() => new Bandit().reset({ task, seed: 0 })).toThrowError(
        expect.objectContaining({
          code: 'INVALID_TASK',
          message: expect.stringContaining('task.arms') as string,
        }) as Error,
      );
    },
  );
});
