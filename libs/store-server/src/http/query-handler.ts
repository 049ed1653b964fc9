import type { IncomingMessage, ServerResponse } from 'node:http';
import { QueryGate } from '../access/query-gate.js';
import type { StoreUser } from '../access/authentication.js';
import { blockCoding, responseCoding, type ResponseCoding } from './content-coding.js';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { DiskGuard } from '../engine/disk-guard.js';
import type {
  RunningStatement,
  RunOptions,
  StatementContext,
  StatementResult,
  StatementRunner,
} from '../engine/engine.js';
import type { QueryRequest } from './query-request.js';
import { checkReadonlyStatement, EXPLAIN_AST, readonlySettings } from '../access/readonly-access.js';
import type { SpooledBody } from './request-body.js';
import { toContentType, formatSummary, sendResult } from './result-response.js';
import type { ResultPipes } from '../engine/result-pipe.js';
import { quoteString } from '../statement/sql-literals.js';
import type { CommandStatement, InsertStatement, RowsStatement } from '../statement/statement.js';
import { readStatementRequest } from './statement-request.js';

export interface QueryHandlerOptions {
  readonly engine: StatementRunner;
  /** Runs the statements of read-only users. */
  readonly userSql: StatementRunner;
  readonly pipes: ResultPipes;
  /** Directory for request bodies while they are inserted. */
  readonly spoolDirectory: string;
  /** Number of statements that may run at once, at least 3. */
  readonly maxRunning: number;
  readonly maxBodyBytes: number;
  readonly guard: DiskGuard;
}

/** One request and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: QueryRequest;
  readonly context: StatementContext;
  /** Aborts when the client disconnects before it has its answer. */
  readonly gone: AbortSignal;
}

const MAX_QUERY_BYTES = 1024 * 1024;
const NOTHING_WRITTEN = { numRows: 0, numBytes: 0, elapsedSeconds: 0 };

/** The status is sent once so many bytes of the result are available, or all of it. */
const HOLD_BYTES = 64 * 1024;
/** Limit of the bytes held in memory for a request with `wait_end_of_query`. */
const HOLD_BYTES_UNTIL_END = 64 * 1024 * 1024;
const STALL_MS = 60_000;
const CANCEL_RETRY_MS = 200;

/** Defaults of settings, which a request can override. */
const DEFAULT_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  // LZ4, the engine's default, can't be read by Arrow's JavaScript library.
  ['output_format_arrow_compression_method', 'none'],
  // Parallel parsing and formatting cost more CPU time than they save while training uses the other core.
  ['input_format_parallel_parsing', '0'],
  ['output_format_parallel_formatting', '0'],
];

/**
 * Runs the statements of requests.
 *
 * Inserts, other statements and read-only users have separate lanes, so that neither a long analysis nor many readers delay an insert.
 */
export class QueryHandler {
  private readonly inserts: QueryGate;
  private readonly statements: QueryGate;
  private readonly readonlyStatements: QueryGate;

  constructor(private readonly options: QueryHandlerOptions) {
    const share = Math.max(1, Math.floor(options.maxRunning / 4));
    const queue = { maxQueued: 256, maxQueueMs: 60_000 };
    this.inserts = new QueryGate({ name: 'inserts', maxRunning: share, ...queue });
    this.readonlyStatements = new QueryGate({ name: 'read-only users', maxRunning: share, ...queue });
    this.statements = new QueryGate({
      name: 'statements',
      maxRunning: options.maxRunning - 2 * share,
      ...queue,
    });
  }

  /** @throws ClickHouseException when nothing was sent yet; the caller answers with its status */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    parameters: URLSearchParams,
    user: StoreUser,
  ): Promise<void> {
    this.options.guard.assertServing();
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    const { query, statement, spoolData } = await readStatementRequest(request, parameters, {
      maxQueryBytes: MAX_QUERY_BYTES,
      maxBodyBytes: this.options.maxBodyBytes,
      spoolDirectory: this.options.spoolDirectory,
    });
    response.setHeader('X-ClickHouse-Query-Id', query.queryId);
    const exchange: Exchange = {
      request,
      response,
      query,
      context: readContext(query, request, user),
      gone: gone.signal,
    };
    if (user.access === 'readonly') {
      await checkReadonlyStatement(statement, (sql) => this.explainAst(sql, exchange));
    }
    switch (statement.kind) {
      case 'rows':
        return this.rows(statement, exchange);
      case 'insert':
        return this.insert(statement, spoolData, exchange);
      case 'command':
        return this.command(statement, exchange);
    }
  }

  private async rows(statement: RowsStatement, exchange: Exchange): Promise<void> {
    const { query, gone } = exchange;
    const format = statement.format ?? query.defaultFormat;
    // Refused, because the client would misread the plain form.
    if (query.nativeVersion > 0 && /^native$/i.test(format)) {
      throw ClickHouseException.of(
        'UNSUPPORTED_METHOD',
        `Format Native of client_protocol_version ${query.nativeVersion} is not supported, because the engine only knows the plain form; leave out the version, or request another format`,
      );
    }
    await this.laneOf(exchange).run(gone, async () => {
      const pipe = this.options.pipes.open();
      const outfile = `\nINTO OUTFILE ${quoteString(pipe.path)} APPEND\nFORMAT ${format}`;
      const running = this.engineOf(exchange).run(
        `${statement.body}${outfile}${statement.tail}`,
        exchange.context,
        { hidden: [outfile] },
      );
      void running.result.then(pipe.finish, pipe.finish);
      const stopCancelling = cancelWhenGone(running, gone);
      try {
        await sendResult(exchange.response, pipe.bytes, running.result, {
          format,
          coding: findCoding(query, exchange.request),
          holdBytes: query.waitEndOfQuery ? HOLD_BYTES_UNTIL_END : HOLD_BYTES,
          stallMs: STALL_MS,
        });
      } finally {
        await pipe.release();
        stopCancelling();
      }
    });
  }

  private async insert(
    statement: InsertStatement,
    spoolData: () => Promise<SpooledBody>,
    exchange: Exchange,
  ): Promise<void> {
    const data = await spoolData();
    try {
      // The engine fails on an empty file in a format with a header; but inserting nothing succeeds.
      const { numRows, numBytes, elapsedSeconds } =
        data.sizeBytes === 0 ? NOTHING_WRITTEN : await this.insertFile(statement, data, exchange);
      await this.options.guard.assertWritten();
      exchange.response.writeHead(200, {
        'Content-Type': 'text/plain; charset=UTF-8',
        'X-ClickHouse-Summary': formatSummary(elapsedSeconds, {
          read_rows: numRows,
          read_bytes: numBytes,
          written_rows: numRows,
          written_bytes: numBytes,
        }),
      });
      exchange.response.end();
    } finally {
      await data.remove();
    }
  }

  /** Inserts a file with FROM INFILE, which reads it like the body of an INSERT: with the table's structure, in any format. */
  private insertFile(
    statement: InsertStatement,
    { path, compression }: SpooledBody,
    { context, gone }: Exchange,
  ): Promise<StatementResult> {
    const sql = `${statement.target}\nFROM INFILE ${quoteString(path)} COMPRESSION ${quoteString(compression)}\n${statement.tail}\nFORMAT ${statement.format}`;
    return this.inserts.run(
      gone,
      () => this.options.engine.run(sql, context, { hidden: [`(in file/uri ${path}): `, path] }).result,
    );
  }

  private async command(statement: CommandStatement, exchange: Exchange): Promise<void> {
    const { query, response } = exchange;
    const format = query.defaultFormat;
    const readsNothing = EXPLAIN_AST.test(statement.text);
    const result = await this.resultOf(exchange, statement.text, { format, readsNothing });
    if (exchange.context.readonlyLevel === 0) await this.options.guard.assertWritten();
    response.writeHead(200, {
      'Content-Type': toContentType(format),
      'X-ClickHouse-Format': format,
      'X-ClickHouse-Summary': formatSummary(result.elapsedSeconds, {
        result_rows: result.numRows,
        result_bytes: result.bytes.length,
      }),
    });
    response.end(result.bytes);
  }

  private async explainAst(sql: string, exchange: Exchange): Promise<string> {
    const result = await this.resultOf(exchange, `EXPLAIN AST ${sql}`, { readsNothing: true });
    return Buffer.from(result.bytes).toString();
  }

  /** Runs a statement with a small result. One that may change something goes on when its client leaves. */
  private resultOf(exchange: Exchange, sql: string, options: RunOptions): Promise<StatementResult> {
    const { context, gone } = exchange;
    return this.laneOf(exchange).run(gone, async () => {
      const running = this.engineOf(exchange).run(sql, context, options);
      if (context.access === 'full') return running.result;
      const stopCancelling = cancelWhenGone(running, gone);
      try {
        return await running.result;
      } finally {
        stopCancelling();
      }
    });
  }

  private engineOf({ context }: Exchange): StatementRunner {
    return context.access === 'readonly' ? this.options.userSql : this.options.engine;
  }

  private laneOf({ context }: Exchange): QueryGate {
    return context.access === 'readonly' ? this.readonlyStatements : this.statements;
  }
}

function readContext(query: QueryRequest, request: IncomingMessage, user: StoreUser): StatementContext {
  const { database, parameters } = query;
  const settings = new Map(DEFAULT_SETTINGS);
  if (user.access === 'readonly') {
    if (database !== 'default')
      throw ClickHouseException.of(
        'ACCESS_DENIED',
        `${user.name}: Not enough privileges for the database ${database}`,
      );
    for (const [name, value] of readonlySettings(query.settings)) settings.set(name, value);
    return { database, parameters, settings, access: 'readonly', readonlyLevel: 1 };
  }
  for (const [name, value] of query.settings) settings.set(name, value);
  // As on a server, GET never writes, so that a malicious link can't.
  return { database, parameters, settings, access: 'full', readonlyLevel: request.method === 'GET' ? 2 : 0 };
}

function findCoding(query: QueryRequest, request: IncomingMessage): ResponseCoding | null {
  if (query.blockResponse) return blockCoding();
  return query.compressResponse ? responseCoding(request.headers) : null;
}

/** Stops a statement whose client disconnected; repeated until it has settled, because it may not have reached the engine yet. */
function cancelWhenGone(running: RunningStatement, gone: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    running.cancel().catch(() => undefined);
    timer = setTimeout(cancel, CANCEL_RETRY_MS);
  };
  gone.addEventListener('abort', cancel, { once: true });
  if (gone.aborted) cancel();
  return () => {
    gone.removeEventListener('abort', cancel);
    clearTimeout(timer);
  };
}
