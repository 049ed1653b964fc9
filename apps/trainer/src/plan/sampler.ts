import type { GroupState } from '@retrace/trajectory';

interface StalenessRule {
  /** Versions that a group's oldest token may lag behind the current policy. */
  readonly maxStaleness: number;
  /** Versions between a behavior policy and the current one; null for unrelated policies. */
  readonly stalenessOf: (behaviorVersion: number) => number | null;
}

interface SamplerOptions extends StalenessRule {
  readonly groupsPerUpdate: number;
}

type SampleResult = {
  /** Those passed over for their staleness, which only grows: they will never be sampled. */
  readonly tooStale: readonly GroupState[];
} & (
  | { readonly ok: true; readonly groups: readonly GroupState[] }
  /** Why the trainer waits, in words a person can act on. */
  | { readonly ok: false; readonly waitingFor: string }
);

/**
 * First in, first out over whole groups: closed, trainable, not consumed, not too stale. Never half a group.
 *
 * @param groups closed and unconsumed groups in log order
 */
export function sampleGroups(groups: Iterable<GroupState>, options: SamplerOptions): SampleResult {
  const picked: GroupState[] = [];
  const tooStale: GroupState[] = [];
  for (const group of groups) {
    if (!isTrainable(group)) continue;
    if (isTooStale(group, options)) tooStale.push(group);
    else if (picked.push(group) === options.groupsPerUpdate) return { ok: true, groups: picked, tooStale };
  }
  const stale = tooStale.length > 0 ? `, ${tooStale.length} too stale` : '';
  return {
    ok: false,
    tooStale,
    waitingFor: `groups: ${picked.length} of ${options.groupsPerUpdate} are there${stale}`,
  };
}

/** All groups that may be sampled now, in log order, and those that are too stale ever to be. */
export function eligibleGroups(
  groups: Iterable<GroupState>,
  rule: StalenessRule,
): { readonly eligible: readonly GroupState[]; readonly tooStale: readonly GroupState[] } {
  const [eligible, tooStale]: [GroupState[], GroupState[]] = [[], []];
  for (const group of groups) {
    if (isTrainable(group)) (isTooStale(group, rule) ? tooStale : eligible).push(group);
  }
  return { eligible, tooStale };
}

function isTrainable(group: GroupState): boolean {
  return group.trainable && group.reason !== 'abandoned' && group.episodeIds.length > 0;
}

function isTooStale(group: GroupState, { maxStaleness, stalenessOf }: StalenessRule): boolean {
  const staleness = stalenessOf(group.policyVersionMin);
  return staleness === null || staleness > maxStaleness;
}

/** Demonstrations: sealed training episodes that no policy of the run sampled. */
export function demonstrations(groups: Iterable<GroupState>): GroupState[] {
  const found: GroupState[] = [];
  for (const group of groups) {
    if (!group.trainable && group.split === 'train' && group.reason === 'complete') found.push(group);
  }
  return found;
}
