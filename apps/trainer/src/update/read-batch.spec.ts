import { buildTokenBatch, type EpisodeColumns } from '@retrace/trajectory';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { assertAccountedLogprobs, readBatch } from './read-batch.js';

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

it('a batch: the tokens of steps that were chosen among the likeliest are not comparable, in every episode', () => {
  const sampling = { temperature: 1, topK: 0, topP: 1, maxNewTokens: 1 };
  const turn = (greedy: boolean, kept: number) => ({
    ...{ observation: [4], action: [5], logprobs: [-1], policyVersions: 2 },
    fields: { sampling: { ...sampling, greedy }, keptPrefixTokens: kept },
  });
  const columns = columnsFromTokens([
    { steps: [turn(true, 0), turn(false, 2)] },
    { steps: [turn(false, 0), turn(true, 2)] },
  ]);
  const needs = { greedyBaseline: false, behaviorLogprobs: false, finalValues: false };
  const { sampled, comparable } = readBatch(columns, { temperature: 1, needs });
  expect([...sampled]).toEqual([1, 1, 1, 1]);
  expect([...comparable]).toEqual([0, 1, 1, 0]);
});
