import { describe, expect, it } from 'vitest';
import { Intake } from './intake.js';

const refusal = expect.objectContaining({
  code: 'TOO_MANY_RECORDS_IN_FLIGHT',
  status: 429,
  retriable: true,
}) as Error;

describe('Intake', () => {
  it('refuses what would not fit beside what is in memory, and takes it once that has gone', () => {
    const intake = new Intake(100_000);
    const first = intake.admit(60_000);
    first.grow(60_000);
    expect(() => intake.admit(60_000)).toThrow(refusal);
    first.release();
    first.release();
    expect(() => intake.admit(60_000)).not.toThrow();
  });

  it('refuses a body that announced no size once it grows too large, and bounds the number of small ones', () => {
    const intake = new Intake(100_000);
    const unannounced = intake.admit(0);
    expect(() => {
      unannounced.grow(95_000);
    }).toThrow(refusal);
    unannounced.release();
    const small = Array.from({ length: 12 }, () => intake.admit(10));
    expect(() => intake.admit(10)).toThrow(refusal);
    small[0].release();
    expect(() => intake.admit(10)).not.toThrow();
  });
});
