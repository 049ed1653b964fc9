import { numberGroups } from '@retrace/algorithms';
import {
  episodeDigests,
  episodesByRun,
  type BatchPlanned,
  type EpisodeColumns,
  type UpdateTraced,
} from '@retrace/trajectory';
import type { UpdateResult } from '../update/result/update-result.js';

interface TraceOptions {
  readonly runId: string;
  /** Of the trainer that commits, which may have taken the plan over. */
  readonly epoch: number;
  readonly plan: BatchPlanned;
  /** Of the plan, as they were read. */
  readonly episodes: EpisodeColumns;
  readonly result: Pick<UpdateResult, 'shares' | 'outcome'>;
}

/** The event that says what an update was computed from. */
export function traceUpdate({ runId, epoch, plan, episodes, result }: TraceOptions): UpdateTraced {
  const { episodeIds, groupIds, stepOffsets } = episodes;
  const numEpisodes = episodeIds.length;
  const runs = numbered(episodesByRun(plan, runId).flatMap((part) => part.episodeIds.map(() => part.runId)));
  // The columns of other runs name their groups with the run, so that groups of one id stay apart; here the run has a column of its own.
  const groups = numbered(
    plan.episodeGroups ? Array.from(plan.episodeGroups, (group) => plan.groupIds[group]) : groupIds,
  );
  return {
    planId: plan.planId,
    epoch,
    updateNumber: plan.updateNumber,
    policyVersionIn: plan.policyVersionIn,
    runIds: runs.names,
    episodeRuns: runs.numbers,
    groupIds: groups.names,
    episodeGroups: groups.numbers,
    episodeIds,
    firstSteps: new Int32Array(numEpisodes),
    numSteps: Int32Array.from({ length: numEpisodes }, (_, e) => stepOffsets[e + 1] - stepOffsets[e]),
    episodeDigests: episodeDigests(episodes),
    ...result.shares,
    stepLosses: result.outcome.stepLosses,
    stepGradientNorms: result.outcome.stepGradientNorms,
  };
}

/** The names, each once in order of first appearance, and the number of each entry's name. */
function numbered(entries: readonly string[]): { readonly names: string[]; readonly numbers: Int32Array } {
  return { names: [...new Set(entries)], numbers: numberGroups(entries).groupIds };
}
