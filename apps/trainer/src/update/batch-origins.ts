import type { BatchPlanned } from '@retrace/trajectory';
import type { MetricEntries } from './metrics.js';

type Origins = Pick<BatchPlanned, 'groupIds' | 'groupRuns' | 'episodeGroups'>;

/** Metrics of where a batch comes from; none for plans that don't say, whose groups are all of the run itself. */
export function originMetrics({ groupIds, groupRuns, episodeGroups }: Origins): MetricEntries {
  if (episodeGroups === null) return [];
  const kept = new Set(episodeGroups);
  const numOwn = [...kept].filter((g) => (groupRuns?.[g] ?? 0) === 0).length;
  return [
    ['data/numOwnGroups', numOwn],
    ['data/numStoredGroups', kept.size - numOwn],
    ['data/numGroupsLeftOut', groupIds.length - kept.size],
  ];
}

/** The importance weights of a plan's groups. */
export type PlannedWeights = Pick<BatchPlanned, 'episodeGroups' | 'groupWeights'>;

/** [E] Importance weights of the sampler; null where it has none. */
export function episodeWeights({ episodeGroups, groupWeights }: PlannedWeights): Float64Array | null {
  if (episodeGroups === null || groupWeights === null) return null;
  return Float64Array.from(episodeGroups, (g) => groupWeights[g]);
}
