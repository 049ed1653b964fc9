import type { AnyEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import type { EventLog } from '../event-log.js';
import { choosePartition } from '../partitioner.js';

/** Appends the events of one episode to its partition, or control events to partition 0 of `control`; returns the partition and the last offset. */
export async function appendEvents(
  log: EventLog,
  events: readonly AnyEvent[],
): Promise<{ readonly partition: number; readonly lastOffset: number }> {
  const [{ runId, episodeId }] = events;
  const records = events.map(encodeEvent);
  const stream = episodeId === '' ? 'control' : 'trajectories';
  const partition =
    episodeId === '' ? 0 : choosePartition(runId, episodeId, log.numPartitions('trajectories'));
  const { firstOffset } = await log.append(stream, partition, records);
  return { partition, lastOffset: firstOffset + records.length - 1 };
}
