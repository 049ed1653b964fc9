import { type BatchPlanned, type EpisodeColumns, episodesByRun } from '@retrace/trajectory';
import { concatEpisodeColumns } from './concat-episode-columns.js';
import type { EpisodeTexts } from './episode-texts.js';
import type { TrajectoryReader } from './trajectory-reader.js';

type Manifest = Pick<BatchPlanned, 'groupIds' | 'episodeIds' | 'runIds' | 'groupRuns' | 'episodeGroups'>;

/**
 * Reads the episodes of a plan, in its order. No policy of this run sampled those of other runs, whatever the numbers of their versions, and two
 * runs may have groups of one id, which stay apart.
 *
 * @param keepsVersions whether the numbers stay, as a trainer outside got them
 * @throws as `TrajectoryReader.readEpisodes`
 */
export async function readPlanColumns(
  reader: Pick<TrajectoryReader, 'readEpisodes'>,
  plan: Manifest,
  ownRunId: string,
  { keepsVersions = false }: { readonly keepsVersions?: boolean } = {},
): Promise<EpisodeColumns> {
  const parts = await Promise.all(
    episodesByRun(plan, ownRunId).map(async ({ runId, episodeIds }) => {
      const columns = await reader.readEpisodes(runId, episodeIds);
      return asOfRun(columns, runId, { ownRunId, keepsVersions });
    }),
  );
  return concatEpisodeColumns(parts);
}

/** Reads the texts of a plan's episodes, in its order. */
export async function readPlanTexts(
  reader: Pick<TrajectoryReader, 'readEpisodeTexts'>,
  plan: Manifest,
  ownRunId: string,
): Promise<EpisodeTexts[]> {
  const parts = await Promise.all(
    episodesByRun(plan, ownRunId).map(({ runId, episodeIds }) => reader.readEpisodeTexts(runId, episodeIds)),
  );
  return parts.flat();
}

/** Columns of a run's episodes, as an update of its own run, or of another, reads them. */
export function asOfRun(
  columns: EpisodeColumns,
  runId: string,
  { ownRunId, keepsVersions }: { readonly ownRunId: string; readonly keepsVersions: boolean },
): EpisodeColumns {
  if (runId === ownRunId) return columns;
  const { tokenPolicyVersions: versions } = columns;
  return {
    ...columns,
    groupIds: columns.groupIds.map((groupId) => `${runId}/${groupId}`),
    tokenPolicyVersions: keepsVersions ? versions : new Int32Array(versions.length).fill(-1),
  };
}
