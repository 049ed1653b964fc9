import { deleteEpisodes, type DeleteEpisodesReport } from '@retrace/store';
import type { RunState } from '@retrace/trajectory';
import { RunsError } from '../runs-error.js';
import type { DeletionSession } from './delete-run.js';

export interface EpisodesDeletion extends DeleteEpisodesReport {
  readonly isDryRun: boolean;
}

interface EpisodesRequest {
  readonly run: RunState;
  readonly episodeIds: readonly string[];
  readonly force: boolean;
  readonly detail: string;
}

/**
 * Deletes episodes of a run from log and store.
 *
 * @throws RunsError `RUN_ACTIVE` for an unfinished trained run while others write to the log, as its trainer may be reading them; StoreError
 *   `EPISODES_REFERRED_TO`
 */
export async function deleteEpisodesOfRun(
  session: Omit<DeletionSession, 'checkpoints'>,
  { run, episodeIds, force, detail }: EpisodesRequest,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<EpisodesDeletion> {
  const { runId, started, ended } = run;
  if (session.hasOtherWriters && started.runKind === 'trained' && ended === null) {
    const rule = session.isLive
      ? 'a server is running; stop the server first, or wait for the end of the run'
      : 'a command that joined a server still writes; wait for its end, or stop it';
    throw new RunsError('RUN_ACTIVE', `run ${runId} trains while ${rule}`);
  }
  if (isDryRun || episodeIds.length === 0) {
    return { runId, numEpisodes: episodeIds.length, numRows: 0, numReleased: 0, isDryRun };
  }
  const { log, client } = session;
  const bringUpToDate = () => session.catchUp();
  const report = await deleteEpisodes({ log, client, runId, episodeIds, force, detail, bringUpToDate });
  return { ...report, isDryRun };
}
