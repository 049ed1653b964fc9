import type { EventLog } from '@retrace/log';
import { newControlEvent, nowUs } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { catchUp } from '../catch-up/catch-up.js';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { TRACED_INPUTS } from '../rows/traced-inputs.js';
import { ROWS_OF_EPISODES_IN_EVENTS } from '../rows/rows-of-run.js';
import { deletedPlaceholder } from './deleted-placeholder.js';
import { IDS_PER_STATEMENT } from '../rows/episodes-by-run.js';
import { markPositions } from './mark-positions.js';
import { mutationTarget } from '../schema/mutation-target.js';
import { toOffsetRanges } from './offset-ranges.js';

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
  /** As in `DeleteRunRecords`. */
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
 * and fold ignores their records, those too that come later. Then follow watermarks, the release of the records in the log, and a rewrite
 * of the parts with their rows. Calling this again completes a deletion that was cut short after its commit.
 *
 * The log's file and parts that were just replaced still have the bytes: `compactLmdbLog`, `dropReplacedParts`.
 *
 * @throws StoreError `EPISODES_REFERRED_TO` naming the runs that trained on them, unless forced; StoreError, LogError
 */
export async function deleteEpisodes(job: DeleteEpisodes): Promise<DeleteEpisodesReport> {
  const { log, client, runId, episodeIds, detail, force } = job;
  const bringUpToDate = job.bringUpToDate ?? (() => catchUp(log, client));
  await bringUpToDate();
  const lists = sliceLists(episodeIds);
  const users = await findUsers(client, lists);
  if (users.length > 0 && !force) {
    const message = `Updates of ${users.join(', ')} were trained on these episodes and could not be made again, so the deletion must be forced`;
    throw new StoreError('EPISODES_REFERRED_TO', message);
  }
  const common = {
    kind: 'EpisodesDeleted',
    logId: log.logId,
    runId,
    occurredAtUs: nowUs(),
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

function sliceLists(episodeIds: readonly string[]): string[][] {
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
  for (const position of listStreamPartitions(log)) {
    const ranges = await toOffsetRanges(client, position, ROWS_OF_EPISODES_IN_EVENTS, { ...episodes });
    numReleased += await log.release(position.stream, position.partition, ranges, deletedPlaceholder);
  }
  return numReleased;
}

/** The tables with rows of episodes, and which rows are theirs. */
const ROWS_OF_EPISODES: readonly { readonly table: string; readonly conditions: readonly string[] }[] = [
  { table: 'events', conditions: ROWS_OF_EPISODES_IN_EVENTS },
  {
    table: 'reward_scores',
    conditions: ['run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}'],
  },
  {
    table: TRACED_INPUTS,
    conditions: ['episode_run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}'],
  },
];

/**
 * Writes the parts that have rows of the episodes again without them: one mutation for each table, since a mutation makes a new part of
 * every part of its table and waits for the disk each time.
 */
async function deleteRows(client: StoreClient, episodes: EpisodesOfRun): Promise<number> {
  const params = { ...episodes };
  let numRows = 0;
  for (const { table, conditions } of ROWS_OF_EPISODES) {
    const deletions: string[] = [];
    for (const condition of conditions) {
      const count = `SELECT count() AS n FROM ${table} WHERE ${condition}`;
      const [{ n }] = await client.queryRows<{ n: number }>(count, { params });
      if (n > 0) deletions.push(`DELETE WHERE ${condition}`);
      numRows += n;
    }
    if (deletions.length === 0) continue;
    const statement = `ALTER TABLE ${mutationTarget(client, table)} ${deletions.join(', ')}`;
    await client.command(statement, { params, settings: { mutations_sync: '2' } });
  }
  return numRows;
}

const TABLES_WITH_HIDDEN_ROWS = `
  SELECT DISTINCT table AS name FROM system.parts
  WHERE database = currentDatabase() AND active AND has_lightweight_delete`;

/**
 * Writes the parts whose deleted rows are only hidden again without them: rows of a deleted run, and those that a sink removed as they
 * came after the deletion of their run or episode. On a cluster every table, since each server knows its own parts only.
 */
export async function rewriteParts(client: StoreClient): Promise<void> {
  const hidden =
    client.layout.cluster === null ? await client.queryRows<{ name: string }>(TABLES_WITH_HIDDEN_ROWS) : null;
  for (const { table } of ROWS_OF_EPISODES) {
    if (hidden !== null && !hidden.some(({ name }) => name === table)) continue;
    await client.command(
      `ALTER TABLE ${mutationTarget(client, table)} APPLY DELETED MASK SETTINGS mutations_sync = 2`,
    );
  }
}
