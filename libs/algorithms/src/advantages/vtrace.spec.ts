import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { monteCarloReturns, retrace, vtrace, type VtraceInput } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

interface Token {
  readonly reward: number;
  readonly value: number;
  readonly proximal: number;
  readonly behavior: number;
}

const token: fc.Arbitrary<Token> = fc.record({
  reward: fc.integer({ min: -8, max: 8 }).map((x) => x / 8),
  value: fc.integer({ min: -8, max: 8 }).map((x) => x / 8),
  proximal: fc.integer({ min: -24, max: 0 }).map((x) => x / 8),
  behavior: fc.integer({ min: -24, max: 0 }).map((x) => x / 8),
});

function inputOf(row: readonly Token[], change: Partial<VtraceInput> = {}): VtraceInput {
  return {
    offsets: Int32Array.of(0, row.length),
    rewards: Float32Array.from(row, ({ reward }) => reward),
    values: Float32Array.from(row, ({ value }) => value),
    proximalLogprobs: Float32Array.from(row, ({ proximal }) => proximal),
    behaviorLogprobs: Float32Array.from(row, ({ behavior }) => behavior),
    truncated: Uint8Array.of(1),
    finalValues: Float32Array.of(0.625),
    gamma: 0.9,
    lambda: 0.95,
    rhoMax: 1.5,
    traceMax: 1,
    policyRhoMax: 1.25,
    ...change,
  };
}

describe('vtrace', () => {
  it('is the sum of eq. 1: V_s + Σ_t γ^{t−s} (Π_{s≤i<t} c_i) δ_t, by brute force', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 7 }), (row) => {
        const input = inputOf(row);
        const { gamma, lambda, rhoMax, traceMax, policyRhoMax } = input;
        const ratio = (t: number): number => Math.exp(row[t].proximal - row[t].behavior);
        const valueAt = (t: number): number => (t < row.length ? row[t].value : 0.625);
        const delta = (t: number): number =>
          Math.min(rhoMax, ratio(t)) * (row[t].reward + gamma * valueAt(t + 1) - valueAt(t));
        const targetAt = (s: number): number => {
          if (s === row.length) return 0.625;
          let target = valueAt(s);
          for (let t = s; t < row.length; t++) {
            let traces = 1;
            for (let i = s; i < t; i++) traces *= lambda * Math.min(traceMax, ratio(i));
            target += gamma ** (t - s) * traces * delta(t);
          }
          return target;
        };
        const { advantages, returns } = vtrace(input);
        row.forEach((_, t) => {
          expect(returns[t]).toBeCloseTo(targetAt(t), 4);
          const policyRatio = Math.min(policyRhoMax, ratio(t));
          expect(advantages[t]).toBeCloseTo(
            policyRatio * (row[t].reward + gamma * targetAt(t + 1) - valueAt(t)),
            4,
          );
        });
      }),
    );
  });

  it('equals the Monte Carlo return on policy with λ = 1', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 7 }), (row) => {
        const onPolicy = row.map((t) => ({ ...t, behavior: t.proximal }));
        const input = inputOf(onPolicy, { lambda: 1 });
        expectClose(vtrace(input).returns, monteCarloReturns(input), 1e-5);
      }),
    );
  });

  it('returns the value unchanged where the policy would never take the action (ρ → 0)', () => {
    const { advantages, returns } = vtrace(inputOf([{ reward: 1, value: 0.5, proximal: -30, behavior: -1 }]));
    expect(returns[0]).toBeCloseTo(0.5, 6);
    expect(advantages[0]).toBeCloseTo(0, 6);
  });

  it('refuses ρ̄ < c̄ and bounds that are not positive', () => {
    expect(catchFault(() => vtrace(inputOf([], { rhoMax: 0.5 }))).message).toBe(
      'rhoMax is 0.5, must not be less than traceMax, 1',
    );
    expect(catchFault(() => vtrace(inputOf([], { traceMax: 0 }))).message).toContain('traceMax is 0');
  });
});

describe('retrace', () => {
  it('is the sum of eq. 3: Q_s + Σ_t γ^{t−s} (Π_{s<i≤t} c_i) δ_t, by brute force', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 7 }), (row) => {
        const { rewards, values: qValues, ...rest } = inputOf(row);
        const expectedQValues = Float32Array.from(row, ({ value, reward }) => value / 2 + reward);
        const { gamma, lambda } = rest;
        const expectedAt = (t: number): number => (t < row.length ? expectedQValues[t] : 0.625);
        const { advantages, returns } = retrace({ ...rest, rewards, qValues, expectedQValues });
        row.forEach((_, s) => {
          let target = qValues[s];
          let traces = 1;
          for (let t = s; t < row.length; t++) {
            if (t > s) traces *= gamma * lambda * Math.min(1, Math.exp(row[t].proximal - row[t].behavior));
            target += traces * (rewards[t] + gamma * expectedAt(t + 1) - qValues[t]);
          }
          expect(returns[s]).toBeCloseTo(target, 4);
          expect(advantages[s]).toBeCloseTo(target - expectedQValues[s], 4);
        });
      }),
    );
  });
});
