import type { EventLog } from './event-log.js';

/** Cursor group of sinks: offsets up to which the store has the log. Advisory: only the store knows for certain. */
export const SINK_GROUP = 'sink';

/**
 * Resolves true once the cursors of the sinks are past every trajectory record that is in the log at the time of the call; false after
 * `timeoutMs`, or when the signal aborts.
 */
export async function trajectoriesStored(
  log: EventLog,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const partitions = Array.from({ length: log.numPartitions('trajectories') }, (_, partition) => partition);
  const reached = await Promise.all(
    partitions.map(async (partition) => {
      const endOffset = await log.endOffset('trajectories', partition);
      return endOffset === 0 || log.cursorReached(SINK_GROUP, 'trajectories', partition, endOffset, stop);
    }),
  );
  return reached.every(Boolean);
}
