import type { StoreClient } from '../client/store-client.js';

/** Selects dead letters. A record whose envelope can't be read has neither run nor time, so filters on those leave it out. */
export interface DeadLetterFilter {
  readonly runId?: string;
  /** A `DeadLetterCode`. */
  readonly code?: string;
  /** Microseconds since the Unix epoch, both inclusive. */
  readonly sinceUs?: number;
  readonly untilUs?: number;
}

/** A record of the log that was refused, without its bytes. */
export interface DeadLetterEntry {
  readonly logId: string;
  readonly stream: 'trajectories' | 'control';
  readonly partition: number;
  readonly offset: number;
  readonly code: string;
  readonly reason: string;
  /** Empty where the envelope can't be read; then `schemaVersion` and `occurredAt` are null. */
  readonly runId: string;
  readonly episodeId: string;
  readonly kind: string;
  readonly schemaVersion: number | null;
  /** ISO 8601, UTC. */
  readonly occurredAt: string | null;
  readonly sizeBytes: number;
}

export interface DeadLetterPage extends DeadLetterFilter {
  /** Starts after this entry. */
  readonly after?: DeadLetterEntry;
  readonly limit: number;
}

const PAGE = `
  SELECT
    log_id AS logId, log_stream AS stream, log_partition AS partition, log_offset AS offset, code, reason, run_id AS runId,
    episode_id AS episodeId, event_kind AS kind, schema_version AS schemaVersion,
    formatDateTime(occurred_at, '%Y-%m-%dT%H:%i:%S.%fZ') AS occurredAt, size_bytes AS sizeBytes
  FROM dead_letters
  WHERE (log_id, log_stream, log_partition, log_offset) > ({logId:String}, {stream:String}, {partition:Int64}, {offset:Int64})
    AND ({runId:String} = '' OR run_id = {runId:String})
    AND ({code:String} = '' OR code = {code:String})
    AND ({sinceUs:Int64} < 0 OR toUnixTimestamp64Micro(occurred_at) >= {sinceUs:Int64})
    AND ({untilUs:Int64} < 0 OR toUnixTimestamp64Micro(occurred_at) <= {untilUs:Int64})
  ORDER BY log_id, log_stream, log_partition, log_offset
  LIMIT {limit:UInt64}`;

/** Lists dead letters in the order of their offsets in the logs. */
export async function listDeadLetters(
  client: StoreClient,
  { runId = '', code = '', sinceUs = -1, untilUs = -1, after, limit }: DeadLetterPage,
): Promise<DeadLetterEntry[]> {
  const { logId = '', stream = '', partition = -1, offset = -1 } = after ?? {};
  const params = { runId, code, sinceUs, untilUs, logId, stream, partition, offset, limit };
  return client.queryRows<DeadLetterEntry>(PAGE, { params });
}
