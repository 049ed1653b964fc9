import type { EpisodeEventKind } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import { IN_STREAM_PARTITION, type StreamPartition } from '../rows/stream-partition.js';
import { amongEpisodes } from './among-episodes.js';

/** A stored record of an episode, as far as a writer needs it to go on with the episode: its place, its content's identity and its counts. */
export interface EpisodeProgressRow {
  readonly episodeId: string;
  readonly kind: EpisodeEventKind;
  readonly seq: number;
  /** 32 hex digits. */
  readonly checksum: string;
  readonly offset: number;
  /** Of a step; null = missing. */
  readonly reward: number | null;
  /** Tokens of the context after a step. */
  readonly contextTokens: number;
  readonly numTokens: number;
  readonly numActionTokens: number;
  /** Over the action tokens that a policy of the run sampled; −1 when there are none. */
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
}

const VERSIONS =
  'arrayFilter((version, mask) -> mask = 1 AND version >= 0, token_policy_versions, action_mask)';

/** Reads the records of these episodes in one stream partition, in log order; of two at one place the first counts. */
export function readEpisodeProgress(
  client: StoreClient,
  position: StreamPartition,
  { runId, episodeIds }: { readonly runId: string; readonly episodeIds: readonly string[] },
): Promise<EpisodeProgressRow[]> {
  return client.queryRows<EpisodeProgressRow>(
    `SELECT episode_id AS episodeId, kind, seq, lower(hex(content_checksum)) AS checksum, log_offset AS offset, reward,
       kept_prefix_tokens + length(action_mask) AS contextTokens,
       length(action_mask) AS numTokens,
       arrayCount(action_mask) AS numActionTokens,
       if(empty(${VERSIONS}), -1, arrayMin(${VERSIONS})) AS policyVersionMin,
       if(empty(${VERSIONS}), -1, arrayMax(${VERSIONS})) AS policyVersionMax
     FROM events
     WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds)}
       AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded', 'RewardAssigned', 'EpisodeAnnotated')
       AND ${IN_STREAM_PARTITION}
     ORDER BY log_offset`,
    { params: { runId, ...position }, settings: client.layout.positionSettings },
  );
}

/** The episodes of a run in one stream partition, as far as it can tell that an id is new. */
export interface EpisodeIdRange {
  /** The highest id that begins with its time (UUIDv7); '' when there is none. */
  readonly newest: string;
  /** Whether there are ids of other forms. */
  readonly hasOthers: boolean;
}

/** Reads which episode ids a run has in one stream partition. */
export async function readEpisodeIdRange(
  client: StoreClient,
  position: StreamPartition,
  runId: string,
): Promise<EpisodeIdRange> {
  const [{ newest, numOthers }] = await client.queryRows<{ newest: string; numOthers: number }>(
    `SELECT maxIf(episode_id, substring(episode_id, 15, 1) = '7') AS newest,
       countIf(substring(episode_id, 15, 1) != '7') AS numOthers
     FROM events
     WHERE run_id = {runId:String} AND kind = 'EpisodeStarted' AND ${IN_STREAM_PARTITION}`,
    { params: { runId, ...position }, settings: client.layout.positionSettings },
  );
  return { newest, hasOthers: numOthers > 0 };
}
