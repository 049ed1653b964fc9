import { join } from 'node:path';
import type {
  Engine,
  RunningStatement,
  RunOptions,
  StatementContext,
  StatementResult,
  StatementRunner,
} from '../engine/engine.js';
import type { UserStatement } from './process-messages.js';
import { readStoreSnapshot, type StoreSnapshot } from './store-snapshot.js';
import { StaleProcessError, UserSqlProcess } from './user-sql-process.js';

/** A process, and the tables that it knows. */
interface KnownProcess {
  readonly process: UserSqlProcess;
  readonly definitions: string;
}

interface IdleProcess extends KnownProcess {
  readonly timer: NodeJS.Timeout;
}

interface Started {
  readonly known: KnownProcess;
  readonly statement: RunningStatement;
}

/**
 * Runs statements of users in engines of their own, each statement alone in a process that can be lost without the store or another statement
 * noticing. The engines read the files that the store's engine writes, and a statement sees what was in the store when it was asked. A
 * process starts when a statement finds none idle, so there are as many as statements run at once; it ends when it was idle for a while.
 */
export class UserSqlEngine implements StatementRunner {
  private readonly processes = new Set<UserSqlProcess>();
  /** The last used one last: it is used again first, so that the others end. */
  private idle: IdleProcess[] = [];
  private numStarted = 0;

  /**
   * @param directory for the files of the processes
   * @param idleMs a process that runs nothing for so long ends
   */
  constructor(
    private readonly store: Engine,
    private readonly directory: string,
    private readonly idleMs = 60_000,
  ) {}

  run(sql: string, context: StatementContext, options: RunOptions = {}): RunningStatement {
    let started = this.start(sql, context, options);
    const result = this.finish(started).catch((error: unknown) => {
      if (!(error instanceof StaleProcessError)) throw error;
      started = this.startAfresh(sql, context, options);
      return this.finish(started);
    });
    return { result, cancel: async () => (await started).statement.cancel() };
  }

  async close(): Promise<void> {
    await this.cancelAll();
  }

  /** Ends what runs, with its processes. */
  async cancelAll(): Promise<void> {
    for (const { timer } of this.idle) clearTimeout(timer);
    this.idle = [];
    await Promise.all([...this.processes].map((process) => process.kill()));
  }

  private async start(sql: string, context: StatementContext, options: RunOptions): Promise<Started> {
    // Only a parser works: any table definitions will do.
    const ready = options.readsNothing === true ? this.takeIdle() : null;
    if (ready !== null) return startIn(ready, { sql, context, options, parts: null });
    const { parts, ...tables } = await readStoreSnapshot(this.store);
    const known = this.takeIdle(makeDefinitions(tables)) ?? this.spawn(tables);
    return startIn(known, { sql, context, options, parts });
  }

  /** Starts a statement in a new process. */
  private async startAfresh(sql: string, context: StatementContext, options: RunOptions): Promise<Started> {
    const { parts, ...tables } = await readStoreSnapshot(this.store);
    return startIn(this.spawn(tables), { sql, context, options, parts });
  }

  /** The statement's result; its process is idle afterwards, or gone. */
  private async finish(starting: Promise<Started>): Promise<StatementResult> {
    const { known, statement } = await starting;
    try {
      return await statement.result;
    } catch (error) {
      if (error instanceof StaleProcessError) void known.process.kill();
      throw error;
    } finally {
      this.rest(known);
    }
  }

  private spawn(tables: Omit<StoreSnapshot, 'parts'>): KnownProcess {
    const process = new UserSqlProcess(join(this.directory, `user-sql-${++this.numStarted}`), tables);
    this.processes.add(process);
    void process.ended.then(() => this.processes.delete(process));
    return { process, definitions: makeDefinitions(tables) };
  }

  /** The idle process that was used last; those with other tables than asked for end. */
  private takeIdle(definitions?: string): KnownProcess | null {
    for (let last = this.idle.pop(); last !== undefined; last = this.idle.pop()) {
      clearTimeout(last.timer);
      if (last.process.hasEnded) continue;
      if (definitions === undefined || last.definitions === definitions) return last;
      void last.process.kill();
    }
    return null;
  }

  private rest({ process, definitions }: KnownProcess): void {
    if (process.hasEnded) return;
    const timer = setTimeout(() => {
      this.idle = this.idle.filter((one) => one.process !== process);
      void process.kill();
    }, this.idleMs).unref();
    this.idle.push({ process, definitions, timer });
  }
}

function startIn(known: KnownProcess, statement: UserStatement): Started {
  return { known, statement: known.process.run(statement) };
}

function makeDefinitions({ definitions }: Pick<StoreSnapshot, 'definitions'>): string {
  return definitions.join('\n');
}
