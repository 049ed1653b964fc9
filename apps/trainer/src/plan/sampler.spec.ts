import type { GroupState } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { demonstrations, sampleGroups } from './sampler.js';

function group(groupId: string, overrides: Partial<GroupState> = {}): GroupState {
  return {
    groupId,
    round: 0,
    split: 'train',
    reason: 'complete',
    groupSize: 2,
    episodeIds: [`${groupId}0`, `${groupId}1`],
    numSteps: Int32Array.of(1, 1),
    policyVersionMin: 5,
    policyVersionMax: 5,
    trainable: true,
    offset: 0,
    numPlans: 0,
    priority: null,
    ...overrides,
  };
}

/** The current policy is version 6 of a chain without branches. */
const stalenessOf = (version: number) => (version < 0 ? null : 6 - version);

describe('sampleGroups', () => {
  it('takes whole groups, first in first out', () => {
    const result = sampleGroups([group('a'), group('b'), group('c')], {
      groupsPerUpdate: 2,
      maxStaleness: 1,
      stalenessOf,
    });
    expect(result).toMatchObject({ ok: true, groups: [{ groupId: 'a' }, { groupId: 'b' }] });
  });

  it('passes over groups that are stale, unrelated, abandoned, empty, or not for training', () => {
    const groups = [
      group('stale', { policyVersionMin: 4 }),
      group('unrelated', { policyVersionMin: -1 }),
      group('abandoned', { reason: 'abandoned' }),
      group('empty', { episodeIds: [] }),
      group('validation', { trainable: false, split: 'validation' }),
      group('fresh'),
    ];
    expect(sampleGroups(groups, { groupsPerUpdate: 1, maxStaleness: 1, stalenessOf })).toMatchObject({
      ok: true,
      groups: [{ groupId: 'fresh' }],
    });
  });

  it('says what it waits for', () => {
    const groups = [group('a'), group('stale', { policyVersionMin: 0 })];
    expect(sampleGroups(groups, { groupsPerUpdate: 3, maxStaleness: 1, stalenessOf })).toEqual({
      ok: false,
      waitingFor: 'groups: 1 of 3 are there, 1 too stale',
      tooStale: [groups[1]],
    });
  });
});

describe('demonstrations', () => {
  it('are complete training groups that no policy is trained on by its gradient', () => {
    const groups = [
      group('policy'),
      group('expert', { trainable: false }),
      group('test', { trainable: false, split: 'test' }),
    ];
    expect(demonstrations(groups).map(({ groupId }) => groupId)).toEqual(['expert']);
  });
});
