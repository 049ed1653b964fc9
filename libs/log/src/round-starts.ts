import type { EventLog, GroupCursor } from './event-log.js';

/** Name under which a collector of a run remembers where its round begins. */
export const collectorCursor = (runId: string, shareIndex: number): string =>
  shareIndex === 0 ? `collector/${runId}` : `collector/${runId}/${shareIndex}`;

/** Name under which the validator of a run does. */
export const validatorCursor = (runId: string): string => `validator/${runId}`;

/** Name under which it is remembered where the trajectories were when a run began: no episode of it is before that. */
const runCursor = (runId: string): string => `run/${runId}`;

/** Remembers where a run begins. Resolves once it is remembered; the run must not be in the log before. */
export async function markRunStart(log: EventLog, runId: string): Promise<void> {
  await log.appendInStages([], roundStarts(runCursor(runId), await trajectoryEnds(log)));
}

/** Offset in one partition before which no episode of a run is; 0 where it was not remembered. */
export async function readRunStart(log: EventLog, runId: string, partition: number): Promise<number> {
  return (await log.readCursor(runCursor(runId), 'trajectories', partition)) ?? 0;
}

/** Current end offset of each partition of the trajectories. */
export function trajectoryEnds(log: EventLog): Promise<number[]> {
  const partitions = Array.from({ length: log.numPartitions('trajectories') }, (_, partition) => partition);
  return Promise.all(partitions.map((partition) => log.endOffset('trajectories', partition)));
}

/**
 * Remembers where the trajectories of a round begin, so that recovery need not read those before. They are committed with the end of the round:
 * in the round after it, recovery reads both.
 *
 * @param ends of the trajectories' partitions, before any record of the round
 */
export function roundStarts(group: string, ends: readonly number[]): GroupCursor[] {
  return ends.map((nextOffset, partition) => ({ group, stream: 'trajectories', partition, nextOffset }));
}

/** Where the last round began that each collector of a run has ended, in one partition; null where it has ended none, or where that is forgotten. */
export function readRoundStarts(
  log: EventLog,
  {
    runId,
    numShares,
    partition,
  }: { readonly runId: string; readonly numShares: number; readonly partition: number },
): Promise<(number | null)[]> {
  return Promise.all(
    Array.from({ length: numShares }, (_, shareIndex) =>
      log.readCursor(collectorCursor(runId, shareIndex), 'trajectories', partition),
    ),
  );
}
