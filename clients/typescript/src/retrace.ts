import { SpoolQueue } from '#spool';
import type { Table } from 'apache-arrow';
import { queryArrow, queryRows, type QueryOptions } from './read/query.js';
import { Run } from './run.js';
import { MemoryQueue } from './sender/memory-queue.js';
import { Sender, type SenderCounts, type SenderOptions } from './sender/sender.js';
import type { SpoolOptions } from './spool/spool-options.js';
import { uuidV7 } from './uuid-v7.js';
import { ApiConnection, type ApiConnectionOptions } from './wire/api-connection.js';
import type { RetraceError } from './wire/retrace-error.js';
import type { JsonObject, RunStart } from './wire/records.js';

export interface RetraceOptions extends ApiConnectionOptions, SenderOptions {
  /**
   * Directory in which records wait until the server has them, so that they survive this process (Node only). Without it they wait in
   * memory.
   */
  readonly spool?: string | SpoolOptions;
  /** Without a spool: most bytes of records that wait (default 16 MiB). New ones beyond it are dropped and counted. */
  readonly maxMemoryBytes?: number;
}

export type RunOptions = Omit<RunStart, 'id'> & {
  /** A lower-case UUID. Several processes may start the same run with the same content; default: a new one. */
  readonly id?: string;
};

const CLOSE_MS = 10_000;
const FLUSH_MS = 30_000;

/**
 * A connection to Retrace. Recording neither waits nor fails: records are taken in at once and sent in batches, again and again while
 * the server can't be reached. Reading waits and rejects with a `RetraceError`.
 */
export class Retrace {
  private readonly connection: ApiConnection;
  private readonly sender: Sender;

  /** @throws TypeError when the URL is none */
  constructor(options: RetraceOptions) {
    this.connection = new ApiConnection(options);
    const onError = options.onError ?? warnOnce();
    const { spool } = options;
    const queue =
      spool === undefined
        ? new MemoryQueue(options.maxMemoryBytes ?? 16 * 1024 ** 2)
        : new SpoolQueue(typeof spool === 'string' ? { directory: spool } : spool, onError);
    this.sender = new Sender(queue, this.connection, { ...options, onError });
    // What earlier processes left.
    if (spool !== undefined) this.sender.start();
  }

  /** Starts a run. It does not wait for the server: the start is sent as records are. */
  startRun({ id = uuidV7(), ...fields }: RunOptions): Promise<Run> {
    this.sender.enqueue({ kind: 'start', run: id, content: { id, ...fields } });
    return Promise.resolve(this.run(id));
  }

  /** A run that has been started: by this process or another one. */
  run(id: string): Run {
    return new Run(id, this.sender, this.connection);
  }

  /** Runs a SELECT and returns an Arrow table. Needs the package `apache-arrow`. */
  query(sql: string, options: QueryOptions = {}): Promise<Table> {
    return queryArrow(this.connection, sql, options);
  }

  /** Runs a SELECT and returns an object for each row. Integers beyond 2⁵³, NaN and infinities are text. */
  rows(sql: string, options: QueryOptions = {}): Promise<readonly JsonObject[]> {
    return queryRows(this.connection, sql, options);
  }

  get stats(): SenderCounts {
    return this.sender.stats;
  }

  /**
   * Sends what waits, also what earlier processes left in the spool.
   *
   * @returns whether the server has answered everything; if not, sending goes on
   */
  flush({ timeoutMs = FLUSH_MS } = {}): Promise<boolean> {
    return this.sender.flush(timeoutMs);
  }

  /**
   * Sends what waits, and ends. With a spool, what could not be sent is sent by the next process that uses it. `onError` hears which
   * episodes are stored poorer than they were recorded, and which were broken off.
   *
   * @returns whether the server has every record, if a poorer one; `stats.damagedEpisodes` says which are
   */
  close({ timeoutMs = CLOSE_MS } = {}): Promise<boolean> {
    return this.sender.close(timeoutMs);
  }
}

/** Warns of the first error of each code, so that a server that is unavailable does not fill the terminal. */
function warnOnce(): (error: RetraceError) => void {
  const warned = new Set<string>();
  return ({ code, message }) => {
    if (warned.has(code)) return;
    warned.add(code);
    console.warn(
      `Retrace: ${message} (further ${code} errors are not shown; the option onError hears of all)`,
    );
  };
}
