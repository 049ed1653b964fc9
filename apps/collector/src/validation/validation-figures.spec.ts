import type { PolicyPublished } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { Story } from '../testing/story.js';
import {
  targetMetrics,
  validationMetrics,
  validationRows,
  type MeasuredEpisode,
} from './validation-figures.js';

const spec = { familyOf: (task: unknown) => (task as { family: string }).family };

function episode(
  place: number,
  decoding: 'greedy' | 'sampled',
  outcome: boolean | null | 'failed',
): MeasuredEpisode {
  const family = place < 2 ? 'easy' : 'hard';
  return {
    success: outcome === 'failed' ? false : outcome,
    return: outcome === true ? 1 : 0,
    failure: outcome === 'failed' ? { of: 'environment', reason: 'it broke' } : null,
    taskFamily: null,
    plan: {
      isGreedyBaseline: decoding === 'greedy',
      group: { place, sampled: { task: { family }, seed: 0 } },
    },
  };
}

const outcomes = (place: number, ...sampled: (boolean | null | 'failed')[]) =>
  sampled.map((outcome) => episode(place, 'sampled', outcome));

describe('validationRows', () => {
  const rows = validationRows(
    [
      ...[true, true, false].map((success, place) => episode(place, 'greedy', success)),
      ...outcomes(0, true, true),
      ...outcomes(1, true, false),
      ...outcomes(2, false, 'failed', null),
    ],
    spec,
  );
  const find = (decoding: string, family: string | null) =>
    rows.find((row) => row.decoding === decoding && row.family === family);

  it('counts greedy and sampled episodes apart, over all tasks and by family', () => {
    expect(rows.map(({ decoding, family }) => [decoding, family])).toEqual([
      ['greedy', null],
      ['greedy', 'easy'],
      ['greedy', 'hard'],
      ['sampled', null],
      ['sampled', 'easy'],
      ['sampled', 'hard'],
    ]);
    expect(find('greedy', null)).toMatchObject({
      numTasks: 3,
      numEpisodes: 3,
      numSuccesses: 2,
      successRate: 2 / 3,
    });
    expect(find('greedy', 'hard')).toMatchObject({ numTasks: 1, numSuccesses: 0, successRate: 0 });
    // Of seven sampled episodes one failed and one has no known outcome.
    expect(find('sampled', null)).toMatchObject({
      ...{ numTasks: 3, numEpisodes: 5, numSuccesses: 3, numUnknown: 1, numFailed: 1 },
      // pass@1: (2/2 + 1/2 + 0/1)/3; pass@2, of the two tasks with two attempts: (1 + 1)/2.
      passAtK: [
        { k: 1, pass: 0.5, numTasks: 3 },
        { k: 2, pass: 1, numTasks: 2 },
      ],
      meanReturn: 3 / 6,
    });
  });

  it('has no family where all tasks are of one, and no row without episodes', () => {
    const one = validationRows([episode(0, 'sampled', true), episode(1, 'sampled', true)], spec);
    expect(one.map(({ decoding, family }) => [decoding, family])).toEqual([['sampled', null]]);
    expect(validationRows([], spec)).toEqual([]);
  });

  it('become metrics: those of the first decoding without a prefix', () => {
    const metrics = new Map(validationMetrics(rows, { split: 'validation', seconds: 2 }));
    expect(metrics.get('validation/success')).toBe(2 / 3);
    expect(metrics.get('validation/success/hard')).toBe(0);
    expect(metrics.get('validation/sampled/success')).toBe(0.6);
    expect(metrics.get('validation/sampled/passAt2')).toBe(1);
    expect(metrics.get('validation/seconds')).toBe(2);
    const sampled = validationRows(outcomes(0, true, false), spec);
    const alone = new Map(validationMetrics(sampled, { split: 'test', seconds: 2 }));
    expect([alone.get('test/success'), alone.get('test/passAt2')]).toEqual([0.5, 1]);
  });
});

describe('targetMetrics', () => {
  const policy = (policyVersion: number): PolicyPublished => ({
    ...{ policyVersion, parentVersion: policyVersion === 0 ? null : policyVersion - 1 },
    ...{ updateNumber: policyVersion * 10, epoch: 0, modelHash: '', location: '' },
    weights: { sha256: 'a'.repeat(64), sizeBytes: 1 },
  });

  it('tells updates and seconds of the validation that reaches a target first', () => {
    const { run } = new Story();
    run.policies.add(policy(0), 1_000_000);
    run.policies.add(policy(1), 8_500_000);
    const targets = [0.5, 0.9, 0.951];
    const at = (success: number) => targetMetrics(run, { policyVersion: 1, success, targets });
    expect(at(0.4)).toEqual([]);
    expect(at(0.9)).toEqual([
      ['validation/updatesTo50', 10],
      ['validation/secondsTo50', 7.5],
      ['validation/updatesTo90', 10],
      ['validation/secondsTo90', 7.5],
    ]);
    expect(at(1).at(-1)).toEqual(['validation/secondsTo95.1', 7.5]);
    expect(at(NaN)).toEqual([]);
  });

  it('leaves out targets that an earlier validation reached', () => {
    const { run } = new Story().published(0).evaluated('validation/success', 0, 0.5).published(1);
    const entries = targetMetrics(run, { policyVersion: 1, success: 0.95, targets: [0.5, 0.9] });
    expect(entries.map(([name]) => name)).toEqual(['validation/updatesTo90', 'validation/secondsTo90']);
  });
});
