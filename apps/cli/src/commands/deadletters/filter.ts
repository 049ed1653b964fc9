import type { EventLog } from '@retrace/log';
import { findRunId } from '../../run/find-run.js';

/** Which dead letters a command is about; times are milliseconds since the Unix epoch. */
export interface FilterOptions {
  readonly run?: string;
  readonly code?: string;
  readonly since?: number;
  readonly until?: number;
}

/** The filter as the store takes it, with times in microseconds. */
export async function makeFilter(log: EventLog, { run, code, since, until }: FilterOptions) {
  return {
    ...(run !== undefined && { runId: await findRunId(log, run) }),
    ...(code !== undefined && { code }),
    ...(since !== undefined && { sinceUs: since * 1000 }),
    ...(until !== undefined && { untilUs: until * 1000 }),
  };
}
