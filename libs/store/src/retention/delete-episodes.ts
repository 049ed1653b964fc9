import type { EventLog } from '@retrace/log';
import { newControlEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { catchUp } from '../catch-up/catch-up.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { streamPartitionsOf } from '../position/stream-partition.js';
import { TRACED_INPUTS } from '../rows/traced-inputs.js';
import { ROWS_OF_EPISODES_IN_EVENTS } from '../rows/rows-of-run.js';
import { deletedPlaceholder } from './deleted-placeholder.js';
import { IDS_PER_STATEMENT } from './episodes-by-run.js';
import { markPositions } from './mark-positions.js';
import { offsetRangesOf } from './offset-ranges.js';

export interface DeleteEpisodes {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly runId: string;
  /** Each once. */
  readonly episodeIds: readonly string[];
  /** The reason in words, which `EpisodesDeleted` records. */
  readonly detail: string;
  /** Deletes the episodes even if updates were trained on them, which then can't be made again. */
  readonly force: boolean;
  /** As in `DeleteRun`. */
  readonly bringUpToDate?: () => Promise<void>;
}

export interface DeleteEpisodesReport {
  readonly runId: string;
  readonly numEpisodes: number;
  /** Rows deleted from all tables of the store. */
  readonly numRows: number;
  /** Records that the log released; null where it can't release single records. */
  readonly numReleased: number | null;
}

/**
 * Deletes episodes from the store and the log, for ever: `EpisodesDeleted` in the log is the commit, and from then on every sink, rebuild
 * and fold ignores their records, those too that come later. Then follow watermarks, the release of the records in the log, and the deletion
 * of the rows, which a rewrite of their parts makes final. Calling this again completes a deletion that was cut short after its commit.
 *
 * The log's file and parts that were just replaced still have the bytes: `compactLmdbLog`, `dropReplacedParts`.
 *
 * @throws StoreError `EPISODES_REFERRED_TO` naming the runs that trained on them, unless forced; StoreError, LogError
 */
export async function deleteEpisodes(job: DeleteEpisodes): Promise<DeleteEpisodesReport> {
  const { log, client, runId, episodeIds, detail, force } = job;
  const bringUpToDate = job.bringUpToDate ?? (() => catchUp(log, client));
  await bringUpToDate();
  const lists = listsOf(episodeIds);
  const users = await findUsers(client, lists);
  if (users.length > 0 && !force) {
    const message = `Updates of ${users.join(', ')} were trained on these episodes and could not be made again, so the deletion must be forced`;
    throw new StoreError('EPISODES_REFERRED_TO', message);
  }
  const common = {
    kind: 'EpisodesDeleted',
    logId: log.logId,
    runId,
    occurredAtUs: Date.now() * 1000,
  } as const;
  const forced = users.length > 0;
  const events = lists.map((list) =>
    newControlEvent({ ...common, payload: { episodeIds: list, forced, detail } }),
  );
  await log.append('control', 0, events.map(encodeEvent));
  await bringUpToDate();
  await markPositions(log, client);
  let numReleased: number | null = null;
  let numRows = 0;
  for (const list of lists) {
    const released = await releaseRecords(log, client, { runId, episodeIds: list });
    numReleased = released === null ? null : (numReleased ?? 0) + released;
    numRows += await deleteRows(client, { runId, episodeIds: list });
  }
  await rewriteParts(client);
  return { runId, numEpisodes: episodeIds.length, numRows, numReleased };
}

interface EpisodesOfRun {
  readonly runId: string;
  readonly episodeIds: readonly string[];
}

function listsOf(episodeIds: readonly string[]): string[][] {
  const lists: string[][] = [];
  for (let from = 0; from < episodeIds.length; from += IDS_PER_STATEMENT)
    lists.push(episodeIds.slice(from, from + IDS_PER_STATEMENT));
  return lists;
}

const USERS = `
  SELECT DISTINCT run_id AS runId
  FROM (SELECT run_id, arrayJoin(episode_ids) AS episode_id FROM updates)
  WHERE episode_id IN {episodeIds:Array(String)}
  ORDER BY runId`;

/** Finds the runs with updates that were trained on some of the episodes: "run …". */
async function findUsers(client: StoreClient, lists: readonly (readonly string[])[]): Promise<string[]> {
  const users = new Set<string>();
  for (const episodeIds of lists) {
    const rows = await client.queryRows<{ runId: string }>(USERS, { params: { episodeIds } });
    for (const { runId } of rows) users.add(`run ${runId}`);
  }
  return [...users];
}

async function releaseRecords(
  log: EventLog,
  client: StoreClient,
  episodes: EpisodesOfRun,
): Promise<number | null> {
  if (log.release === undefined) return null;
  let numReleased = 0;
  for (const position of streamPartitionsOf(log)) {
    const ranges = await offsetRangesOf(client, position, ROWS_OF_EPISODES_IN_EVENTS, { ...episodes });
    numReleased += await log.release(position.stream, position.partition, ranges, deletedPlaceholder);
  }
  return numReleased;
}

async function deleteRows(client: StoreClient, episodes: EpisodesOfRun): Promise<number> {
  const params = { ...episodes };
  const settings = { lightweight_deletes_sync: '2' };
  const { localEvents, onCluster } = client.layout;
  const targets = [
    ...ROWS_OF_EPISODES_IN_EVENTS.map((condition) => ({ table: 'events', condition })),
    {
      table: 'reward_scores',
      condition: 'run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}',
    },
    {
      table: TRACED_INPUTS,
      condition: 'episode_run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}',
    },
  ];
  let numRows = 0;
  for (const { table, condition } of targets) {
    const [{ n }] = await client.queryRows<{ n: number }>(
      `SELECT count() AS n FROM ${table} WHERE ${condition}`,
      { params },
    );
    if (n === 0) continue;
    const target = table === 'events' ? `${localEvents}${onCluster}` : table;
    await client.command(`DELETE FROM ${target} WHERE ${condition}`, { params, settings });
    numRows += n;
  }
  return numRows;
}

/** Writes the parts that have deleted rows again without them; until then a deletion only hides rows. */
export async function rewriteParts(client: StoreClient): Promise<void> {
  const { localEvents, onCluster } = client.layout;
  for (const table of [`${localEvents}${onCluster}`, 'reward_scores', TRACED_INPUTS])
    await client.command(`ALTER TABLE ${table} APPLY DELETED MASK SETTINGS mutations_sync = 2`);
}
