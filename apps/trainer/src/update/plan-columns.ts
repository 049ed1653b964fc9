import { concatEpisodeColumns, type EpisodeTexts } from '@retrace/store';
import { episodesByRun, type BatchPlanned, type EpisodeColumns } from '@retrace/trajectory';
import type { EpisodeSource } from './episode-source.js';

type Manifest = Pick<BatchPlanned, 'groupIds' | 'episodeIds' | 'runIds' | 'groupRuns' | 'episodeGroups'>;

/**
 * Reads the episodes of a plan, in its order. No policy of this run sampled those of other runs, whatever the numbers of their versions, and two
 * runs may have groups of one id, which stay apart.
 *
 * @throws as `EpisodeSource.readEpisodes`
 */
export async function readPlanColumns(
  reader: Pick<EpisodeSource, 'readEpisodes'>,
  plan: Manifest,
  ownRunId: string,
): Promise<EpisodeColumns> {
  const parts = await Promise.all(
    episodesByRun(plan, ownRunId).map(async ({ runId, episodeIds }) => {
      const columns = await reader.readEpisodes(runId, episodeIds);
      return runId === ownRunId ? columns : asOfOtherRun(columns, runId);
    }),
  );
  return concatEpisodeColumns(parts);
}

/** Reads the texts of a plan's episodes, in its order. */
export async function readPlanTexts(
  reader: Pick<EpisodeSource, 'readEpisodeTexts'>,
  plan: Manifest,
  ownRunId: string,
): Promise<EpisodeTexts[]> {
  const parts = await Promise.all(
    episodesByRun(plan, ownRunId).map(({ runId, episodeIds }) => reader.readEpisodeTexts(runId, episodeIds)),
  );
  return parts.flat();
}

function asOfOtherRun(columns: EpisodeColumns, runId: string): EpisodeColumns {
  return {
    ...columns,
    groupIds: columns.groupIds.map((groupId) => `${runId}/${groupId}`),
    tokenPolicyVersions: new Int32Array(columns.tokenPolicyVersions.length).fill(-1),
  };
}
