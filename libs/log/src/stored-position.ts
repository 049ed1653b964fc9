import type { EventLog } from './event-log.js';

/** Cursor group under which sinks commit how far the store holds the log. Advisory: the store itself knows best. */
export const SINK_GROUP = 'sink';

/**
 * Resolves true once a sink says that the store holds every trajectory record which is in the log at the time of the call;
 * false after `timeoutMs`, or when the signal aborts.
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
