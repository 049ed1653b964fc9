import { deleteEpisodesOfRun } from '@retrace/runs/delete';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { describeEpisodesDeletion } from '../../run/describe-deletion.js';
import { findRun } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';

interface DeleteOptions extends CommonOptions {
  readonly run: string;
  readonly episode?: readonly string[];
  readonly tag?: string;
  readonly dryRun?: true;
  readonly force?: true;
}

/** Deletes the named episodes of a run, or those with a tag, and prints what was removed. */
export async function deleteSome(options: DeleteOptions): Promise<void> {
  const { dataDir, json, episode = [], tag } = options;
  if (episode.length === 0 && tag === undefined) {
    throw new CliError('EPISODE_UNKNOWN', 'no episode named; use --episode <id> or --tag <tag>');
  }
  const report = await withStore({ dataDir }, async (session) => {
    await session.catchUp();
    const run = await findRun(session.log, options.run);
    const episodeIds = await findEpisodes(session, { runId: run.runId, ids: episode, tag });
    const request = { run, episodeIds, force: options.force === true, detail: 'by request' };
    return deleteEpisodesOfRun(session, request, { isDryRun: options.dryRun === true });
  });
  console.log(json === true ? JSON.stringify(report) : describeEpisodesDeletion(report));
}

interface Wanted {
  readonly runId: string;
  readonly ids: readonly string[];
  readonly tag: string | undefined;
}

/** @throws CliError `EPISODE_UNKNOWN` naming an episode that the run does not have */
async function findEpisodes({ client }: StoreSession, { runId, ids, tag }: Wanted): Promise<string[]> {
  const named = await client.queryRows<{ id: string }>(
    `SELECT DISTINCT episode_id AS id FROM events
     WHERE run_id = {runId:String} AND episode_id != '' AND episode_id IN {ids:Array(String)}`,
    { params: { runId, ids } },
  );
  const found = new Set(named.map(({ id }) => id));
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) {
    throw new CliError('EPISODE_UNKNOWN', `episode "${unknown}" not found in run ${runId}`);
  }
  if (tag === undefined) return [...found];
  const tagged = await client.queryRows<{ id: string }>(
    'SELECT episode_id AS id FROM episodes WHERE run_id = {runId:String} AND has(tags, {tag:String})',
    { params: { runId, tag } },
  );
  for (const { id } of tagged) found.add(id);
  return [...found];
}
