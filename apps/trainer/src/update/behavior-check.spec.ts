import { buildTokenBatch, type EpisodeColumns } from '@retrace/trajectory';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { assertAccountedLogprobs, compareOnPolicy } from './behavior-check.js';

/** One episode of one step: two observation tokens, one action token. */
function columnsWith(overrides: Partial<EpisodeColumns> = {}): EpisodeColumns {
  const step = { observation: [4, 5], action: [6], logprobs: [-0.5], policyVersions: 2 };
  return { ...columnsFromTokens([{ steps: [step] }]), ...overrides };
}

function check(overrides: Partial<EpisodeColumns> = {}, temperature = 1): void {
  const columns = columnsWith(overrides);
  assertAccountedLogprobs(columns, buildTokenBatch(columns), { temperature });
}

describe('assertAccountedLogprobs', () => {
  it('accepts a sample with its logprob at the recipe’s temperature', () => {
    expect(() => {
      check();
    }).not.toThrow();
  });

  it.each([
    ['a missing logprob', { tokenLogprobs: Float32Array.of(0, 0, Number.NaN) }, /behavior logprob is NaN/],
    ['a positive logprob', { tokenLogprobs: Float32Array.of(0, 0, 0.5) }, /behavior logprob is 0.5/],
    ['a greedy choice', { greedy: Uint8Array.of(1) }, /chosen greedily/],
    ['another temperature', { temperatures: Float32Array.of(0.5) }, /temperature 0.5; must be 1/],
    ['an unknown temperature', { temperatures: Float32Array.of(Number.NaN) }, /temperature NaN/],
  ])('refuses %s', (_, overrides, message) => {
    expect(() => {
      check(overrides);
    }).toThrow(message);
  });
});

describe('compareOnPolicy', () => {
  const batch = buildTokenBatch(columnsWith());
  const scored = Uint8Array.of(0, 0, 1);

  it('measures the ratio on tokens of the current version: e^0.1 − 1 for logprobs −0.4 against −0.5', () => {
    const { maxDeviation, meanDeviation } = compareOnPolicy(batch, Float32Array.of(0, 0, -0.4), 2, scored);
    expect(maxDeviation).toBeCloseTo(Math.expm1(0.1), 6);
    expect(meanDeviation).toBe(maxDeviation);
  });

  it('is not available when another version sampled all tokens, or none was scored', () => {
    expect(compareOnPolicy(batch, Float32Array.of(0, 0, -0.4), 3, scored).maxDeviation).toBeNaN();
    expect(compareOnPolicy(batch, Float32Array.of(0, 0, -0.4), 2, new Uint8Array(3)).maxDeviation).toBeNaN();
  });
});
