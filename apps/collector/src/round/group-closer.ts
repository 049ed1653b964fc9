import { closeTogether, type ClosedGroup, type GroupsClosed } from '@retrace/trajectory';
import type { EndedEpisode } from '../episode/episode-recorder.js';
import type { PlannedGroup } from '../episode/planned-episode.js';

interface OpenGroup {
  readonly group: PlannedGroup;
  readonly members: (EndedEpisode | undefined)[];
  numSealed: number;
}

/** Collects the ended episodes of a round by group. */
export class GroupCloser {
  private readonly open = new Map<string, OpenGroup>();
  private numComplete = 0;

  /** @param policyVersion for a group in which no action was taken; −1 where no policy of this run was to act */
  constructor(
    groups: Iterable<PlannedGroup>,
    private readonly policyVersion: number,
  ) {
    for (const group of groups) {
      this.open.set(group.groupId, { group, members: new Array<undefined>(group.groupSize), numSealed: 0 });
    }
  }

  add(summary: EndedEpisode): void {
    const entry = this.open.get(summary.plan.group.groupId);
    if (!entry) return;
    entry.members[summary.plan.groupMember] = summary;
    entry.numSealed++;
    if (entry.numSealed === entry.group.groupSize) this.numComplete++;
  }

  get isComplete(): boolean {
    return this.numComplete === this.open.size;
  }

  /** The event that closes all groups, in planned order; call when `isComplete`. */
  closings(): GroupsClosed {
    return closeTogether(Array.from(this.open.values(), (open) => closeGroup(open, this.policyVersion)));
  }
}

function closeGroup({ group, members }: OpenGroup, policyVersion: number): ClosedGroup {
  const sealed = members.filter((member) => member !== undefined);
  const acted = sealed.filter((member) => member.policyVersionMin >= 0);
  return {
    groupId: group.groupId,
    round: group.round,
    split: group.split,
    reason: 'complete',
    groupSize: group.groupSize,
    episodeIds: sealed.map((member) => member.plan.episodeId),
    numSteps: Int32Array.from(sealed, (member) => member.numSteps),
    policyVersionMin:
      acted.length > 0 ? Math.min(...acted.map((member) => member.policyVersionMin)) : policyVersion,
    policyVersionMax:
      acted.length > 0 ? Math.max(...acted.map((member) => member.policyVersionMax)) : policyVersion,
    trainable: group.trainable,
  };
}
