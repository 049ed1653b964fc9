import type { EventLog } from './event-log.js';

/** Name under which a collector of a run remembers where its round begins. */
export const collectorCursor = (runId: string, shareIndex: number): string =>
  shareIndex === 0 ? `collector/${runId}` : `collector/${runId}/${shareIndex}`;

/** Name under which the validator of a run does. */
export const validatorCursor = (runId: string): string => `validator/${runId}`;

/** Name under which it is remembered where the trajectories were when a run began: no episode of it is before that. */
const runCursor = (runId: string): string => `run/${runId}`;

/** Remembers where a run begins. Resolves once it is remembered; the run must not be in the log before. */
export async function markRunStart(log: EventLog, runId: string): Promise<void> {
  await (
    await markRoundStart(log, runCursor(runId))
  ).written;
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
 * Remembers where the trajectories of the coming round begin, so that recovery reads only that round. Resolves once the place is known, before any
 * record of the round; `written` once it is remembered, which need not be waited for: until then recovery begins at an earlier round.
 */
export async function markRoundStart(
  log: EventLog,
  cursor: string,
): Promise<{ readonly written: Promise<unknown> }> {
  const ends = await trajectoryEnds(log);
  const written = Promise.all(
    ends.map((end, partition) => log.commitCursor(cursor, 'trajectories', partition, end)),
  );
  // Whoever awaits it learns of a failure.
  written.catch(() => undefined);
  return { written };
}

/** Where the round begins that each collector of a run plays, in one partition; null where it has begun none, or where that is forgotten. */
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
