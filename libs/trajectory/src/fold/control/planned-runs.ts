import { addedAfter } from '../../events/event-fields.js';
import type { BatchPlanned } from '../../events/control-events.js';

type OtherRuns = 'runIds' | 'groupRuns' | 'groupSources' | 'groupRows' | 'episodeGroups' | 'groupWeights';

/** The fields of a plan whose groups are all of its own run, drawn without preference: those that version 1 had none of. */
export const OWN_GROUPS_ONLY = addedAfter('BatchPlanned', 1) as Pick<BatchPlanned, OtherRuns>;

type PlannedRuns = Pick<BatchPlanned, 'groupIds' | 'episodeIds' | 'runIds' | 'groupRuns' | 'episodeGroups'>;

/** Consecutive episodes of a plan that belong to one run. */
export interface EpisodesOfRun {
  readonly runId: string;
  readonly episodeIds: readonly string[];
}

/** The run of a plan's group. */
export function runOfGroup({ runIds, groupRuns }: PlannedRuns, group: number, ownRunId: string): string {
  const run = groupRuns?.[group] ?? 0;
  return run === 0 ? ownRunId : runIds[run - 1];
}

/** The groups of a plan that belong to its own run. */
export function ownGroupIds({ groupIds, groupRuns }: PlannedRuns): readonly string[] {
  return groupRuns === null ? groupIds : groupIds.filter((_, g) => groupRuns[g] === 0);
}

/** The episodes of a plan in its order, cut where the run changes. */
export function episodesByRun(plan: PlannedRuns, ownRunId: string): EpisodesOfRun[] {
  const { episodeIds, episodeGroups } = plan;
  if (episodeGroups === null) return [{ runId: ownRunId, episodeIds }];
  const stretches: { readonly runId: string; readonly episodeIds: string[] }[] = [];
  episodeIds.forEach((episodeId, e) => {
    const runId = runOfGroup(plan, episodeGroups[e], ownRunId);
    const last = stretches.at(-1);
    if (last?.runId === runId) last.episodeIds.push(episodeId);
    else stretches.push({ runId, episodeIds: [episodeId] });
  });
  return stretches;
}
