import type { GroupsClosed } from '../../events/control-events.js';

/** One group of a `GroupsClosed`. */
export interface ClosedGroup extends Pick<GroupsClosed, 'round' | 'split' | 'reason' | 'trainable'> {
  readonly groupId: string;
  readonly groupSize: number;
  readonly episodeIds: readonly string[];
  /** Steps of each member, in the order of `episodeIds`. */
  readonly numSteps: Int32Array;
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
}

/** A closed group with the offset of its `GroupsClosed` in stream `control`. */
export interface LoggedGroup extends ClosedGroup {
  readonly offset: number;
}

/** Splits an event into its groups, in order. */
export function closedGroups(closed: GroupsClosed): ClosedGroup[] {
  const { round, split, reason, trainable, memberOffsets } = closed;
  return closed.groupIds.map((groupId, g) => {
    const [from, to] = [memberOffsets[g], memberOffsets[g + 1]];
    return {
      round,
      split,
      reason,
      trainable,
      groupId,
      groupSize: closed.groupSizes[g],
      episodeIds: closed.episodeIds.slice(from, to),
      numSteps: closed.numSteps.slice(from, to),
      policyVersionMin: closed.policyVersionMin[g],
      policyVersionMax: closed.policyVersionMax[g],
    };
  });
}

/** Joins groups into one event; they must agree in round, split, reason and `trainable`. */
export function closeTogether(groups: readonly ClosedGroup[]): GroupsClosed {
  const { round, split, reason, trainable } = groups[0];
  const memberOffsets = new Int32Array(groups.length + 1);
  groups.forEach(({ episodeIds }, g) => {
    memberOffsets[g + 1] = memberOffsets[g] + episodeIds.length;
  });
  return {
    round,
    split,
    reason,
    trainable,
    memberOffsets,
    groupIds: groups.map(({ groupId }) => groupId),
    groupSizes: Int32Array.from(groups, ({ groupSize }) => groupSize),
    episodeIds: groups.flatMap(({ episodeIds }) => episodeIds),
    numSteps: Int32Array.from(groups.flatMap(({ numSteps }) => [...numSteps])),
    policyVersionMin: Int32Array.from(groups, (group) => group.policyVersionMin),
    policyVersionMax: Int32Array.from(groups, (group) => group.policyVersionMax),
  };
}
