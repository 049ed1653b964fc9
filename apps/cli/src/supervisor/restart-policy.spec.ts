import { describe, expect, it } from 'vitest';
import { RestartPolicy, type Failure, type RestartLimits } from './restart-policy.js';

const LIMITS: RestartLimits = {
  firstDelayMs: 100,
  maxDelayMs: 1000,
  healthyAfterMs: 60_000,
  maxSameSentence: 3,
  maxFailures: 7,
};
const failure = (sentence: string, more: Partial<Failure> = {}): Failure => ({
  sentence,
  killed: false,
  isFinal: false,
  healthyMs: 0,
  ...more,
});

describe('RestartPolicy', () => {
  it('doubles the delay up to a limit, and gives up after the maximum number of failures', () => {
    const policy = new RestartPolicy(LIMITS);
    const delays = Array.from({ length: 7 }, (_, i) => policy.delayAfter(failure(`reason ${i}`)));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, null]);
  });

  it('gives up sooner when every failure has the same sentence', () => {
    const policy = new RestartPolicy(LIMITS);
    expect(policy.delayAfter(failure('disk full'))).toBe(100);
    expect(policy.delayAfter(failure('disk full'))).toBe(200);
    expect(policy.delayAfter(failure('disk full'))).toBeNull();
  });

  it('does not count kills from outside as failures with the same sentence', () => {
    const policy = new RestartPolicy(LIMITS);
    const delays = Array.from({ length: 6 }, () =>
      policy.delayAfter(failure('ended by SIGKILL', { killed: true })),
    );
    expect(delays.every((delay) => delay !== null)).toBe(true);
  });

  it('gives up at once after a failure that would only repeat itself', () => {
    const policy = new RestartPolicy(LIMITS);
    expect(policy.delayAfter(failure('the environment fails', { isFinal: true }))).toBeNull();
  });

  it('resets the counts after a healthy life', () => {
    const policy = new RestartPolicy(LIMITS);
    policy.delayAfter(failure('disk full'));
    policy.delayAfter(failure('disk full'));
    expect(policy.delayAfter(failure('disk full', { healthyMs: 60_000 }))).toBe(100);
  });
});
