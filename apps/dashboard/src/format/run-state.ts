import type { RunListItem } from '../api-types/schema';

/** True when the run finished, was stopped or failed. */
export function hasEnded({ status }: Pick<RunListItem, 'status'>): boolean {
  return status !== 'running' && status !== 'idle';
}

/** How long a run has taken, in ms: until it ended, or until its last event; while it is running, until `nowMs`. */
export function runDurationMs(
  run: Pick<RunListItem, 'status' | 'startedAt' | 'endedAt' | 'lastActivityAt'>,
  nowMs: number,
): number {
  const startMs = Date.parse(run.startedAt);
  if (run.status === 'running') return nowMs - startMs;
  return Date.parse(run.endedAt ?? run.lastActivityAt ?? run.startedAt) - startMs;
}
