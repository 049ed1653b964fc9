import type { EventLog } from '@retrace/log';
import type { DataDirectory } from '@retrace/process';
import type { ExplainForm, StatementOptions, StoreClient } from '@retrace/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStoreClient } from '../services/connection.js';
import { PATIENCE_MS, readPatiently } from '../queries/patient-read.js';
import type { LogStream } from '../supervisor/log-stream.js';

/** The store that the runs of a training server have, whoever started it. */
export interface StoreOfRuns {
  readonly url: string;
  /** Resolves to the store's address once all of it is up. */
  readonly serving: Promise<string>;
  /** Resolves to the API's address once it listens; to null without an API. */
  readonly listening: Promise<string | null>;
  /** Resolves with the reason once it has failed for good, and a run can't go on without it. */
  readonly failure: Promise<Error>;
  /** Does `work` with a client of the store that repeats each read for which the store was not there. */
  ask<T>(work: (client: StoreClient) => Promise<T>): Promise<T>;
  /** Waits after a run has ended until the store has it or will have it; where that takes too long, a warning says how much of the log it lacks. */
  followEndedRun(): Promise<void>;
  stop(): Promise<void>;
  killAll(): void;
}

interface AskedStore {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
  /** Whether nobody starts the store again. */
  readonly isGone: () => boolean;
}

/** As `StoreOfRuns.ask`: who serves the store starts it again, or says that it can't. */
export async function askStore<T>(
  { directory, storeUrl, isGone }: AskedStore,
  work: (client: StoreClient) => Promise<T>,
): Promise<T> {
  const client = await openStoreClient(directory, { storeUrl });
  try {
    return await work(withPatientReads(client, isGone));
  } finally {
    await client.close();
  }
}

function withPatientReads(client: StoreClient, isGone: () => boolean): StoreClient {
  const patiently = <R>(read: () => Promise<R>, signal?: AbortSignal) =>
    readPatiently(read, { isGone, signal });
  return {
    database: client.database,
    layout: client.layout,
    queryRows: <Row>(sql: string, options?: StatementOptions) =>
      patiently(() => client.queryRows<Row>(sql, options), options?.signal),
    queryTable: (sql, options) => patiently(() => client.queryTable(sql, options), options?.signal),
    queryArrow: (sql, options) => patiently(() => client.queryArrow(sql, options), options?.signal),
    explainAst: (sql, options) => patiently(() => client.explainAst(sql, options), options?.signal),
    explain: <Row>(form: ExplainForm, sql: string, options?: StatementOptions) =>
      patiently(() => client.explain<Row>(form, sql, options), options?.signal),
    command: (sql, options) => client.command(sql, options),
    insertArrow: (insert) => client.insertArrow(insert),
    ping: () => client.ping(),
    close: () => client.close(),
  };
}

interface FollowedStore {
  readonly log: LogStream;
  readonly eventLog: EventLog;
  readonly stopping: AbortSignal;
  /** Whether the store has what is in the log, or will have it; works until then, or until the signal aborts. */
  readonly reaches: (signal: AbortSignal) => Promise<boolean>;
  readonly patienceMs?: number;
}

/** As `StoreOfRuns.followEndedRun`. */
export async function followEndedRun(options: FollowedStore): Promise<void> {
  const { log, eventLog, stopping, reaches, patienceMs = PATIENCE_MS } = options;
  const waiting = new AbortController();
  const signal = AbortSignal.any([stopping, waiting.signal]);
  const tooLong = sleep(patienceMs, false, { signal }).catch(() => false);
  const isReached = await Promise.race([tooLong, reaches(signal)]);
  waiting.abort();
  if (!isReached && !stopping.aborted) await warnOfBacklog(log, eventLog);
}

/** Says how much of the log waits for a store that is not there. */
async function warnOfBacklog(log: LogStream, eventLog: EventLog): Promise<void> {
  const { countStoreBacklog } = await import('@retrace/log');
  const numWaiting = await countStoreBacklog(eventLog);
  if (numWaiting === 0) return;
  const message = `the store is not there, and ${numWaiting} records wait in the log for it; "retrace rebuild" makes it`;
  log.write({ role: 'store', level: 'warn', message });
}
