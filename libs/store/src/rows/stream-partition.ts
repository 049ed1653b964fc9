import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';

/** One partition of one stream of one log: the unit that has an order, and in which the store has a position. */
export interface StreamPartition {
  readonly logId: string;
  readonly stream: Stream;
  readonly partition: number;
}

/** The condition that a row of table `events` is of a stream partition, given as parameters of the statement. */
export const IN_STREAM_PARTITION =
  'log_id = {logId:String} AND log_stream = {stream:String} AND log_partition = {partition:UInt16}';

const STREAMS: readonly Stream[] = ['control', 'trajectories'];

/** All stream partitions of a log: the control stream first, which says which runs there are. */
export function listStreamPartitions(log: EventLog): StreamPartition[] {
  const { logId } = log;
  return STREAMS.flatMap((stream) =>
    Array.from({ length: log.numPartitions(stream) }, (_, partition) => ({ logId, stream, partition })),
  );
}
