import type { StoreClient } from '../client/store-client.js';

/** A stored event that says whether a run is there, what it is, and whether it has ended. */
export interface RunHistoryRow {
  readonly kind: 'RunStarted' | 'RunEnded' | 'RunDeleted' | 'EpisodesDeleted';
  /** 32 hex digits. */
  readonly checksum: string;
  /** Of `RunStarted`. */
  readonly environment: string;
  /** Of `RunEnded`. */
  readonly reason: string;
  /** JSON of the fields without a column. */
  readonly payload: string;
}

/** Reads the events of a run that begin or end it, or delete something of it, in log order. */
export function readRunHistory(client: StoreClient, logId: string, runId: string): Promise<RunHistoryRow[]> {
  return client.queryRows<RunHistoryRow>(
    `SELECT kind, lower(hex(content_checksum)) AS checksum, environment, end_reason AS reason, payload
     FROM events
     WHERE run_id = {runId:String} AND episode_id = '' AND log_id = {logId:String} AND log_stream = 'control'
       AND kind IN ('RunStarted', 'RunEnded', 'RunDeleted', 'EpisodesDeleted')
     ORDER BY log_partition, log_offset`,
    { params: { runId, logId }, settings: client.layout.positionSettings },
  );
}
