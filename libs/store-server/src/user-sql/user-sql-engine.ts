import { join } from 'node:path';
import type {
  Engine,
  RunningStatement,
  RunOptions,
  StatementContext,
  StatementRunner,
} from '../engine/engine.js';
import { readStoreSnapshot } from './store-snapshot.js';
import { StaleProcessError, UserSqlProcess } from './user-sql-process.js';

/**
 * Runs statements of users in an engine of its own, in a process that can be lost without the store noticing. It reads the files that the
 * store's engine writes, and a statement sees what was in the store when it was asked. The process starts with the first statement,
 * ends when idle, and starts again after a loss.
 */
export class UserSqlEngine implements StatementRunner {
  private readonly processes = new Set<UserSqlProcess>();
  private current: { readonly process: UserSqlProcess; readonly definitions: string } | null = null;
  private numStarted = 0;
  private idle: NodeJS.Timeout | undefined;

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
    const started = this.start(sql, context, options);
    const result = started
      .then((statement) => statement.result)
      .catch(async (error: unknown) => {
        if (!(error instanceof StaleProcessError)) throw error;
        this.replace();
        return (await this.start(sql, context, options)).result;
      })
      .finally(() => this.endWhenIdle());
    return { result, cancel: async () => (await started).cancel() };
  }

  async close(): Promise<void> {
    clearTimeout(this.idle);
    await this.cancelAll();
  }

  /** Ends what runs, with its process. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.processes].map((process) => process.kill()));
  }

  private async start(
    sql: string,
    context: StatementContext,
    options: RunOptions,
  ): Promise<RunningStatement> {
    clearTimeout(this.idle);
    if (options.readsNothing && this.current?.process.hasEnded === false)
      return this.current.process.run({ sql, context, options, parts: null });
    const { parts, ...tables } = await readStoreSnapshot(this.store);
    const definitions = tables.definitions.join('\n');
    if (this.current?.definitions !== definitions) this.replace();
    if (this.current === null || this.current.process.hasEnded) {
      const process = new UserSqlProcess(join(this.directory, `user-sql-${++this.numStarted}`), tables);
      this.processes.add(process);
      void process.ended.then(() => this.processes.delete(process));
      this.current = { process, definitions };
    }
    return this.current.process.run({ sql, context, options, parts });
  }

  /** Lets the process end what runs in it; the next statement starts another. */
  private replace(): void {
    this.current?.process.retire();
    this.current = null;
  }

  private endWhenIdle(): void {
    clearTimeout(this.idle);
    if (this.current?.process.isIdle) this.idle = setTimeout(() => this.replace(), this.idleMs).unref();
  }
}
