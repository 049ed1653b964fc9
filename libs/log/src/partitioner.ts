import { crc32 } from 'node:zlib';
import { TrajectoryError } from '@retrace/trajectory';

/**
 * Returns the partition of stream `trajectories` that holds an episode: crc32(runId + episodeId) mod numPartitions.
 *
 * All events of an episode are in one partition, so they have one order. In SQL:
 * `CRC32(concat(run_id, episode_id)) % n`.
 *
 * @throws TrajectoryError `INVALID_ARGUMENT` unless `numPartitions` is an integer ≥ 1
 */
export function choosePartition(runId: string, episodeId: string, numPartitions: number): number {
  if (!Number.isInteger(numPartitions) || numPartitions < 1) {
    throw new TrajectoryError(
      'INVALID_ARGUMENT',
      `numPartitions is ${numPartitions}; must be an integer ≥ 1`,
    );
  }
  if (numPartitions === 1) return 0;
  return crc32(runId + episodeId) % numPartitions;
}
