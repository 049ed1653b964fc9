import { GroupPool, OWN_GROUPS_ONLY, type BatchPlanned, type ClosedGroup } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { leaveOutLost } from './lost-episodes.js';

const groups = new GroupPool(() => 1);
for (const [offset, groupId] of ['a', 'b', 'c'].entries()) {
  const members = [`${groupId}0`, `${groupId}1`];
  const group: ClosedGroup = {
    ...({ round: 0, split: 'train', reason: 'complete', trainable: true, groupId, groupSize: 2 } as const),
    ...{ episodeIds: members, numSteps: Int32Array.of(3, 4), policyVersionMin: 0, policyVersionMax: 0 },
  };
  groups.close({ ...group, offset });
}

const plan: BatchPlanned = {
  planId: 'plan',
  epoch: 0,
  updateNumber: 5,
  stage: 'policy',
  policyVersionIn: 4,
  rewardVersion: 'r',
  recipeHash: 'h',
  groupIds: ['a', 'b', 'c'],
  episodeIds: ['a0', 'a1', 'b0', 'b1', 'c0', 'c1'],
  numSteps: Int32Array.of(1, 2, 3, 4, 5, 6),
  samplerState: null,
  ...OWN_GROUPS_ONLY,
  seed: 1,
};
const lost = [{ episodeId: 'b1', missing: 'step 2 of 4 is missing (dead letters …)' }];

describe('a plan with an episode that lost an event', () => {
  it('leaves out the episodes of its group, all of them, and keeps the group named, so that it counts as sampled', () => {
    const lines: string[] = [];
    const left = leaveOutLost(plan, { lost, isNew: true, groups, warn: (line) => lines.push(line) });
    expect(left).toEqual({
      ...plan,
      episodeIds: ['a0', 'a1', 'c0', 'c1'],
      numSteps: Int32Array.of(1, 2, 5, 6),
    });
    expect(lines).toEqual([
      '1 of its 6 episodes will never be whole; their groups are left out: episode b1: step 2 of 4 is missing (dead letters …)',
    ]);
  });

  it('that is in the log already, or has no other group, can only be refused, by name', () => {
    const options = { lost, groups, warn: () => undefined };
    expect(() => leaveOutLost(plan, { ...options, isNew: false })).toThrow(
      expect.objectContaining({
        code: 'EPISODES_LOST',
        message: expect.stringContaining('episode b1: step 2') as string,
      }),
    );
    const all = plan.episodeIds.map((episodeId) => ({ episodeId, missing: 'its end is missing' }));
    expect(() => leaveOutLost(plan, { ...options, lost: all, isNew: true })).toThrow(
      expect.objectContaining({ code: 'EPISODES_LOST' }),
    );
  });
});
