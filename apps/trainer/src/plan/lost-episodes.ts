import type { BatchPlanned, GroupPool } from '@retrace/trajectory';
import type { LostEpisode } from '@retrace/store';
import { TrainerError } from '../trainer-error.js';

interface LeaveOutLost {
  readonly lost: readonly LostEpisode[];
  /** Whether the plan is not in the log yet, and may still be changed. */
  readonly isNew: boolean;
  /** The groups that the plan was made of. */
  readonly groups: GroupPool;
  readonly warn: (message: string) => void;
}

/**
 * The plan without the groups that have a lost episode: never half a group. The groups stay named in it, so that they count as
 * sampled for everyone who waits for the trainer; their episodes go.
 *
 * @throws TrainerError `EPISODES_LOST` when the plan is in the log already, or no episode is left
 */
export function leaveOutLost(plan: BatchPlanned, { lost, isNew, groups, warn }: LeaveOutLost): BatchPlanned {
  const described = lost.map(({ episodeId, missing }) => `episode ${episodeId}: ${missing}`).join('; ');
  const share = `${lost.length} of its ${plan.episodeIds.length} episodes will never be whole`;
  const what = `update ${plan.updateNumber}: ${share}`;
  if (!isNew) {
    const rule =
      'its plan is in the log and must be made as it is; `retrace deadletters` lists what became of their events';
    throw new TrainerError('EPISODES_LOST', `${what}, ${rule}: ${described}`);
  }
  const isLost = new Set(lost.map(({ episodeId }) => episodeId));
  const leftOut = new Set(
    membersByGroup(plan, groups)
      .filter((members) => members.some((episodeId) => isLost.has(episodeId)))
      .flat(),
  );
  for (const episodeId of isLost) leftOut.add(episodeId);
  const kept = plan.episodeIds.flatMap((episodeId, i) => (leftOut.has(episodeId) ? [] : [i]));
  if (kept.length === 0)
    throw new TrainerError('EPISODES_LOST', `${what}, and no other group is there: ${described}`);
  warn(`${share}; their groups are left out: ${described}`);
  return {
    ...plan,
    episodeIds: kept.map((i) => plan.episodeIds[i]),
    numSteps: Int32Array.from(kept, (i) => plan.numSteps[i]),
    episodeGroups: plan.episodeGroups && Int32Array.from(kept, (i) => plan.episodeGroups?.[i] ?? 0),
  };
}

/** The episodes of each group, by the plan where it says so, else by the pool. */
function membersByGroup(
  { groupIds, episodeIds, episodeGroups }: BatchPlanned,
  groups: GroupPool,
): (readonly string[])[] {
  if (episodeGroups === null) return groupIds.map((groupId) => groups.get(groupId)?.episodeIds ?? []);
  return groupIds.map((_, g) => episodeIds.filter((_id, e) => episodeGroups[e] === g));
}
