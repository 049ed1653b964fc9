import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { RunningStatement, StatementResult } from '../engine/engine.js';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { FromUserSqlProcess, ToUserSqlProcess, UserStatement } from './process-messages.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** The compiled program, also where the server itself runs from its sources. */
const PROGRAM = '@retrace/store-server/user-sql-main';

const MEBIBYTE = 1024 * 1024;

/**
 * Largest sum of the process's private writable memory (RLIMIT_DATA, on Linux; elsewhere there is no limit). The engine's own limits hold for
 * what it counts; this one holds for all. Without a statement the process has 300 MiB of it.
 */
const MAX_DATA_BYTES = 2560 * MEBIBYTE;
/** Time to start the process and show a statement the parts of the store. */
const START_MS = 60_000;
const NOT_READY = `the engine of user SQL was not ready within ${START_MS / 1000} seconds, as on a machine that has too much to do; ask again`;
/** Time after a statement's own limit in which the engine may still end it. */
const GRACE_MS = 2_000;

interface Pending {
  readonly id: number;
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: Error) => void;
  readonly maxExecutionMs: number;
  timer: NodeJS.Timeout;
}

/** The parts of the store have changed in a way that this process can not follow; a new one can. */
export class StaleProcessError extends Error {}

/** A process of user SQL, which runs one statement at a time. It can end at any time; what runs then fails, and nothing else does. */
export class UserSqlProcess {
  private readonly child: ChildProcess;
  private pending: Pending | null = null;
  /** Resolves when the process is gone, with its files. */
  readonly ended: Promise<void>;
  private lastId = 0;
  /** How the process ended, or will at once; null while it runs. */
  private ending: string | null = null;

  constructor(directory: string, tables: Omit<StoreSnapshot, 'parts'>) {
    const command = [process.execPath, createRequire(import.meta.url).resolve(PROGRAM)];
    const limited = ['/bin/sh', '-c', 'ulimit -d "$0" && exec "$@"', `${MAX_DATA_BYTES / 1024}`];
    const [file, ...args] = process.platform === 'linux' ? [...limited, ...command] : command;
    this.child = spawn(file, args, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    this.ended = once(this.child, 'close')
      .catch(() => undefined)
      .then(() => rm(directory, { recursive: true, force: true }));
    this.child.on('message', (message: FromUserSqlProcess) => this.receive(message));
    this.child.once('error', (error) => this.lose(error.message));
    this.child.once('exit', (code, signal) => this.lose(signal ?? `exit code ${code ?? 'unknown'}`));
    this.send({ type: 'open', directory, tables });
  }

  get hasEnded(): boolean {
    return this.ending !== null;
  }

  /** Runs a statement; the one before must have settled. */
  run(statement: UserStatement): RunningStatement {
    const id = ++this.lastId;
    const result = new Promise<StatementResult>((resolve, reject) => {
      const maxExecutionMs = Number(statement.context.settings.get('max_execution_time')) * 1000;
      const timer = setTimeout(() => this.overrun(NOT_READY), START_MS);
      this.pending = { id, resolve, reject, maxExecutionMs, timer };
      if (this.ending !== null) this.lose(this.ending);
      else this.send({ type: 'run', id, statement });
    });
    return {
      result,
      cancel: () => {
        this.send({ type: 'cancel', id });
        return Promise.resolve();
      },
    };
  }

  /** Ends the process, whatever runs in it. */
  async kill(): Promise<void> {
    this.ending ??= 'it was stopped';
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private send(message: ToUserSqlProcess): void {
    // A process that has ended rejects its statements by itself.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private receive(message: FromUserSqlProcess): void {
    const { pending } = this;
    if (pending?.id !== message.id) return;
    clearTimeout(pending.timer);
    if (message.type === 'started') {
      const seconds = pending.maxExecutionMs / 1000;
      const why = `maximum: ${seconds} seconds; the statement could not be cancelled, so its engine was ended`;
      pending.timer = setTimeout(() => this.overrun(why), pending.maxExecutionMs + GRACE_MS);
      return;
    }
    this.pending = null;
    if (message.type === 'result') pending.resolve(message.result);
    else if (message.type === 'stale') pending.reject(new StaleProcessError());
    else pending.reject(ClickHouseException.fromEngine(new Error(message.message)));
  }

  /** Ends the process for a statement that its limit did not end, or that could not begin. */
  private overrun(why: string): void {
    const { pending } = this;
    this.pending = null;
    pending?.reject(ClickHouseException.of('TIMEOUT_EXCEEDED', `Timeout exceeded: ${why}`));
    void this.kill();
  }

  private lose(how: string): void {
    this.ending ??= how;
    const { pending } = this;
    this.pending = null;
    clearTimeout(pending?.timer);
    pending?.reject(
      ClickHouseException.of(
        'ABORTED',
        `The engine of user SQL ended (${this.ending}) while the statement ran: it needed more than ${MAX_DATA_BYTES / MEBIBYTE} MiB of memory, or hit a fault of the engine; read less, or ask in another way`,
      ),
    );
  }
}
