import { deleteEpisodesOfRun, type EpisodesDeletion } from '@retrace/runs/delete';
import { readExpiredEpisodes } from '@retrace/store';
import type { CommonOptions } from '../../options.js';
import { describeEpisodesDeletion } from '../../run/describe-deletion.js';
import { findRun } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { counted } from '../../terminal/counted.js';

interface RetainEpisodesOptions extends CommonOptions {
  readonly run: string;
  /** Milliseconds. */
  readonly olderThan?: number;
  readonly newest?: number;
  readonly dryRun?: true;
  readonly force?: true;
}

/** Which episodes of a run go. */
interface EpisodeRetentionRequest {
  /** Run as the user named it. */
  readonly run: string;
  /** Episodes whose last step is older, in milliseconds since the Unix epoch; null = of any age are kept. */
  readonly beforeMs: number | null;
  /** As many are kept; null = any number. */
  readonly maxEpisodes: number | null;
  readonly dryRun: boolean;
  readonly force: boolean;
}

interface EpisodeRetentionReport extends EpisodesDeletion {
  /** Episodes that would have been deleted, had no update been trained on them. */
  readonly numKept: number;
}

/** Deletes episodes of a run and prints how many, and how many had to be kept. */
export async function retainEpisodesOfRun(options: RetainEpisodesOptions): Promise<void> {
  const { dataDir, json, run, olderThan, newest, dryRun, force } = options;
  const report = await withStore({ dataDir }, (session) =>
    retainEpisodes(session, {
      run,
      beforeMs: olderThan === undefined ? null : Date.now() - olderThan,
      maxEpisodes: newest ?? null,
      dryRun: dryRun === true,
      force: force === true,
    }),
  );
  if (json === true) {
    console.log(JSON.stringify(report, null, 2));
    return;
  }
  if (report.numKept > 0) {
    const kept = counted(report.numKept, 'episode');
    console.log(`kept: ${kept} that updates were trained on; --force deletes them, too`);
  }
  console.log(describeEpisodesDeletion(report));
}

/** Deletes the episodes of a run that are too old or too many. Those that updates were trained on stay, unless forced. */
async function retainEpisodes(
  session: StoreSession,
  { beforeMs, maxEpisodes, dryRun, force, ...request }: EpisodeRetentionRequest,
): Promise<EpisodeRetentionReport> {
  await session.catchUp();
  const run = await findRun(session.log, request.run);
  const beforeUs = beforeMs === null ? null : beforeMs * 1000;
  const expired = await readExpiredEpisodes(session.client, run.runId, { beforeUs, maxEpisodes });
  const deleted = expired.filter(({ isReferredTo }) => force || !isReferredTo);
  const episodeIds = deleted.map(({ episodeId }) => episodeId);
  const rules = [
    ...(beforeMs === null ? [] : [`no step since ${new Date(beforeMs).toISOString()}`]),
    ...(maxEpisodes === null ? [] : [`not among the newest ${maxEpisodes}`]),
  ];
  const detail = `retention: ${rules.join(', or ')}`;
  const report = await deleteEpisodesOfRun(session, { run, episodeIds, force, detail }, { isDryRun: dryRun });
  return { ...report, numKept: expired.length - deleted.length };
}
