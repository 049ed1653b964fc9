import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session, drainPending } from 'chdb';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import { findLockHolder, findStatusWriter } from './engine-lock.js';
import {
  engineConfigXml,
  READONLY_ROLE,
  STORE_CONFIG,
  usersConfigXml,
  type EngineConfig,
} from './engine-config.js';
import { quoteIdentifier, quoteString } from '../statement/sql-literals.js';
import { StoreServerError } from '../store-server-error.js';

/**
 * The surroundings of a statement. They belong to a separate connection, so they do not affect the next statement.
 * Names of settings and parameters consist of letters, digits and underscores.
 */
export interface StatementContext {
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}`, as ClickHouse's HTTP interface takes them (TSV-escaped). */
  readonly parameters: ReadonlyMap<string, string>;
  readonly access: 'full' | 'readonly';
  /** `readonly` of the connection, set after every other setting: 0, 1 (no writes, no settings) or 2 (no writes). */
  readonly readonlyLevel: 0 | 1 | 2;
}

export interface StatementResult {
  readonly bytes: Uint8Array;
  /** Rows of the result, or rows that an INSERT wrote. The engine does not report how many it read. */
  readonly numRows: number;
  readonly numBytes: number;
  readonly elapsedSeconds: number;
}

export interface RunOptions {
  /** Format of the result, unless the statement writes it to a file. */
  readonly format?: string;
  /** Whether the statement reads no table, so that any state of the store will do (default no). */
  readonly readsNothing?: boolean;
  /** Texts that the server added to the statement; messages must not repeat them. */
  readonly hidden?: readonly string[];
}

/** A statement under way. */
export interface RunningStatement {
  readonly result: Promise<StatementResult>;
  /** Asks the engine to stop the statement; `result` then rejects with QUERY_WAS_CANCELLED, unless it was too late. */
  cancel(): Promise<void>;
}

/** Runs statements in an engine. */
export interface StatementRunner {
  /** Starts a statement. The caller bounds how many run at once. */
  run(sql: string, context: StatementContext, options?: RunOptions): RunningStatement;
}

const MARKER_PREFIX = 'retrace-statement-';

/** The ClickHouse engine on one data directory, which no other process can use while it is open. */
export class Engine implements StatementRunner {
  private numStatements = 0;

  private constructor(
    private readonly directory: string,
    private readonly root: Session,
    readonly version: string,
    readonly timezone: string,
  ) {}

  /** @throws StoreServerError STORE_DIRECTORY_IN_USE, STORE_DIRECTORY_UNUSABLE or STORE_DISK_FULL */
  static async open(dataDirectory: string, config: EngineConfig = STORE_CONFIG): Promise<Engine> {
    const directory = join(dataDirectory, 'engine');
    const configPath = join(dataDirectory, 'engine.xml');
    const usersPath = join(dataDirectory, 'engine-users.xml');
    const holder = await findLockHolder(directory);
    if (holder !== null) throw directoryInUse(dataDirectory, holder);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFile(usersPath, usersConfigXml());
      await writeFile(configPath, engineConfigXml({ usersPath, ...config }));
      const root = new Session(directory, { connectionArgs: [`--config-file=${configPath}`] });
      const answer = await root.queryAsync('SELECT version(), timezone()', { format: 'TSV' });
      const [version, timezone] = answer.text().trim().split('\t');
      return new Engine(directory, root, version, timezone);
    } catch (error) {
      const writer = await findStatusWriter(directory);
      throw writer === null
        ? asOpenError(error, dataDirectory)
        : directoryInUse(dataDirectory, writer, error);
    }
  }

  /** Each running statement holds a libuv thread. */
  run(sql: string, context: StatementContext, options: RunOptions = {}): RunningStatement {
    const marker = `${MARKER_PREFIX}${++this.numStatements}`;
    return {
      result: this.execute(`${prelude(context, marker)}${sql}`, options),
      cancel: () => this.kill(`${marker} `),
    };
  }

  /** Returns the rows of a small result as text, for queries of the server itself. */
  async query(sql: string): Promise<readonly (readonly string[])[]> {
    const text = (await this.root.queryAsync(sql, { format: 'JSONCompactStringsEachRow' })).text();
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as string[]]));
  }

  /** Asks the engine to stop all statements. */
  async cancelAll(): Promise<void> {
    await this.kill(MARKER_PREFIX);
  }

  /** Closes the engine once every statement has ended. */
  async close(): Promise<void> {
    await drainPending();
    this.root.close();
    await drainPending();
  }

  /** Runs a statement on a new connection, which costs 0.3 ms. */
  private async execute(statement: string, options: RunOptions): Promise<StatementResult> {
    const connection = new Session(this.directory);
    try {
      const raw = await connection.queryAsync(statement, { format: options.format ?? 'TabSeparated' });
      return {
        bytes: raw.bytes(),
        numRows: raw.rowsRead,
        numBytes: raw.bytesRead,
        elapsedSeconds: raw.elapsed,
      };
    } catch (error) {
      throw ClickHouseException.fromEngine(error, options.hidden);
    } finally {
      connection.close();
    }
  }

  private async kill(commentPrefix: string): Promise<void> {
    const sql = `KILL QUERY WHERE startsWith(Settings['log_comment'], ${quoteString(commentPrefix)}) ASYNC`;
    await this.root.queryAsync(sql, { format: 'Null' });
  }
}

/** Returns the settings, parameters, database and role of a statement as SQL that runs before it on the same connection. */
function prelude(context: StatementContext, marker: string): string {
  const settings = new Map(context.settings);
  // The only mark of a running query that a connection can choose; KILL QUERY finds it by this.
  settings.set('log_comment', `${marker} ${settings.get('log_comment') ?? ''}`);
  const assignments = [
    ...[...settings].map(([name, value]) => `${name} = ${quoteString(value)}`),
    ...[...context.parameters].map(([name, value]) => `param_${name} = ${quoteString(value)}`),
  ];
  const statements = [
    `SET ${assignments.join(', ')}`,
    ...(context.database === 'default' ? [] : [`USE ${quoteIdentifier(context.database)}`]),
    ...(context.access === 'readonly' ? [`SET ROLE ${READONLY_ROLE}`] : []),
    ...(context.readonlyLevel === 0 ? [] : [`SET readonly = ${context.readonlyLevel}`]),
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}

function directoryInUse(dataDirectory: string, pid: number, cause?: unknown): StoreServerError {
  return new StoreServerError(
    'STORE_DIRECTORY_IN_USE',
    `The store's data directory ${dataDirectory} is in use by process ${pid}; stop that process, or choose another directory.`,
    { cause, retriable: true },
  );
}

function asOpenError(error: unknown, dataDirectory: string): StoreServerError {
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left|NOT_ENOUGH_SPACE/i.test(text)) {
    return new StoreServerError(
      'STORE_DISK_FULL',
      `No space is left for the store's data directory ${dataDirectory}; free some space and start again.`,
      { cause: error, retriable: true },
    );
  }
  return new StoreServerError(
    'STORE_DIRECTORY_UNUSABLE',
    `The store's data directory ${dataDirectory} cannot be opened: ${text}`,
    { cause: error },
  );
}
