import type { EpisodeEventKind } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';
import { amongEpisodes } from '../reader/among-episodes.js';
import type { RunEdge } from './started-runs.js';

/** The place that an accepted record holds in its episode. */
export interface PlaceRow {
  readonly episodeId: string;
  readonly kind: EpisodeEventKind;
  readonly seq: number;
  /** 32 hex digits. */
  readonly checksum: string;
  readonly offset: number;
}

/** A start, a deletion or a claim of a run. */
export interface RunEdgeRow extends RunEdge {
  readonly offset: number;
}

/** Limits a read to records before an offset (default: no limit). */
export interface ReadBefore {
  readonly before?: number;
}

/** Episode ids in one query: about 20 kB of its text. */
const IDS_PER_QUERY = 500;

const RUN_EDGES = `
  SELECT run_id AS runId, kind, epoch, log_offset AS offset
  FROM events
  WHERE episode_id = '' AND kind IN ('RunStarted', 'RunDeleted', 'TrainerClaimed') AND ${IN_STREAM_PARTITION} AND log_offset < {before:UInt64}
  ORDER BY log_offset`;

const NEWEST_EPISODE = `
  SELECT max(episode_id) AS newest
  FROM events
  WHERE run_id = {runId:String} AND startsWith(episode_id, {prefix:String}) AND ${IN_STREAM_PARTITION}`;

const placesOf = (episodeIds: readonly string[]): string => `
  SELECT episode_id AS episodeId, kind, seq, lower(hex(content_checksum)) AS checksum, log_offset AS offset
  FROM events
  WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds)}
    AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded', 'RewardAssigned', 'EpisodeAnnotated')
    AND ${IN_STREAM_PARTITION} AND log_offset < {before:UInt64}
  ORDER BY log_offset`;

/** Reads the places of these episodes in one stream partition, in log order. */
export async function readPlaces(
  client: StoreClient,
  position: StreamPartition,
  {
    runId,
    episodeIds,
    before,
  }: ReadBefore & { readonly runId: string; readonly episodeIds: readonly string[] },
): Promise<PlaceRow[]> {
  const rows: PlaceRow[] = [];
  for (let from = 0; from < episodeIds.length; from += IDS_PER_QUERY) {
    const statement = placesOf(episodeIds.slice(from, from + IDS_PER_QUERY));
    rows.push(...(await query<PlaceRow>(client, statement, { ...position, runId, before })));
  }
  return rows;
}

/** Reads the starts, deletions and claims of all runs of a log, in log order. */
export function readRunEdges(
  client: StoreClient,
  position: StreamPartition,
  { before }: ReadBefore = {},
): Promise<RunEdgeRow[]> {
  return query<RunEdgeRow>(client, RUN_EDGES, { ...position, before });
}

/** Reads the highest episode id of a run that begins with `prefix`, in one stream partition; '' when there is none. */
export async function readNewestEpisode(
  client: StoreClient,
  position: StreamPartition,
  { runId, prefix }: { readonly runId: string; readonly prefix: string },
): Promise<string> {
  const [{ newest }] = await query<{ newest: string }>(client, NEWEST_EPISODE, {
    ...position,
    runId,
    prefix,
  });
  return newest;
}

function query<Row>(
  client: StoreClient,
  statement: string,
  { before = Number.MAX_SAFE_INTEGER, ...params }: Readonly<Record<string, unknown>>,
): Promise<Row[]> {
  const settings = client.layout.positionSettings;
  return client.queryRows<Row>(statement, { params: { ...params, before }, settings });
}
