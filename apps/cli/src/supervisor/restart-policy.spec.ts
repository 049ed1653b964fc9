import { describe, expect, it } from 'vitest';
import { RestartPolicy, type Failure, type RestartLimits } from './restart-policy.js';

const limits: RestartLimits = {
  firstDelayMs: 100,
  maxDelayMs: 1000,
  healthyAfterMs: 60_000,
  maxSameSentence: 3,
  maxFailures: 7,
};
const failure = (sentence: string, more: Partial<Failure> = {}): Failure => ({
  sentence,
  killed: false,
  healthyMs: 0,
  ...more,
});

describe('RestartPolicy', () => {
  it('doubles the delay up to its limit, and gives up after so many failures of any kind', () => {
    const policy = new RestartPolicy(limits);
    const delays = Array.from({ length: 7 }, (_, i) => policy.delayAfter(failure(`reason ${String(i)}`)));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, null]);
  });

  it('gives up sooner when the sentence is always the same', () => {
    const policy = new RestartPolicy(limits);
    expect(policy.delayAfter(failure('disk full'))).toBe(100);
    expect(policy.delayAfter(failure('disk full'))).toBe(200);
    expect(policy.delayAfter(failure('disk full'))).toBeNull();
  });

  it('does not hold kills from outside against the role', () => {
    const policy = new RestartPolicy(limits);
    const delays = Array.from({ length: 6 }, () =>
      policy.delayAfter(failure('ended by SIGKILL', { killed: true })),
    );
    expect(delays.every((delay) => delay !== null)).toBe(true);
  });

  it('starts counting again after a healthy life', () => {
    const policy = new RestartPolicy(limits);
    policy.delayAfter(failure('disk full'));
    policy.delayAfter(failure('disk full'));
    expect(policy.delayAfter(failure('disk full', { healthyMs: 60_000 }))).toBe(100);
  });
});
