import type { IncomingMessage, ServerResponse } from 'node:http';
import { Admission } from './admission.js';
import type { StoreUser } from './authentication.js';
import { ClickHouseException } from './clickhouse-exception.js';
import { responseCoding } from './content-coding.js';
import type { Engine, RunningStatement, StatementContext } from './engine.js';
import { readQueryRequest, type QueryRequest } from './query-request.js';
import { RequestBody } from './request-body.js';
import { contentTypeOf, formatSummary, sendResult } from './result-response.js';
import type { ResultPipes } from './result-pipe.js';
import { quoteString } from './sql-literals.js';
import {
  parseStatement,
  type CommandStatement,
  type InsertStatement,
  type RowsStatement,
} from './statement.js';

export interface QueryHandlerOptions {
  readonly engine: Engine;
  readonly pipes: ResultPipes;
  /** Where request bodies are spooled. */
  readonly spoolDirectory: string;
  readonly numThreads: number;
  readonly maxBodyBytes: number;
}

/** Settings of every statement that the request doesn't set itself. */
const DEFAULT_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  // LZ4, the engine's default, can't be read by Arrow's JavaScript library.
  ['output_format_arrow_compression_method', 'none'],
];

const MAX_QUERY_BYTES = 1024 * 1024;
const HOLD_BYTES = 64 * 1024;
const HOLD_BYTES_UNTIL_END = 64 * 1024 * 1024;
const STALL_MS = 60_000;
const CANCEL_RETRY_MS = 200;

/** Runs the statements of requests on the engine. */
export class QueryHandler {
  private readonly writes: Admission;
  private readonly reads: Admission;
  private readonly readonlyReads: Admission;

  constructor(private readonly options: QueryHandlerOptions) {
    const share = Math.max(1, Math.floor(options.numThreads / 4));
    const bounds = { maxQueued: 256, maxQueueMs: 60_000 };
    this.writes = new Admission({ name: 'writes', maxRunning: share, ...bounds });
    this.readonlyReads = new Admission({ name: 'read-only users', maxRunning: share, ...bounds });
    this.reads = new Admission({ name: 'reads', maxRunning: options.numThreads - 2 * share, ...bounds });
  }

  /** @throws ClickHouseException where nothing was sent yet; the caller answers with its status */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    parameters: URLSearchParams,
    user: StoreUser,
  ): Promise<void> {
    const query = readQueryRequest(parameters, request.headers);
    response.setHeader('X-ClickHouse-Query-Id', query.queryId);
    const aborted = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) aborted.abort();
    });
    const body = new RequestBody(request, { ...this.options, maxQueryBytes: MAX_QUERY_BYTES });
    const urlStatement = query.urlQuery === '' ? null : `${query.urlQuery}\n`;
    let head: { bytes: Buffer; isWhole: boolean } = { bytes: Buffer.alloc(0), isWhole: false };
    let text = urlStatement ?? '';
    let statement = urlStatement === null ? null : parseStatement(urlStatement);
    if (statement?.kind !== 'insert') {
      head = await body.readHead();
      text += head.bytes.toString();
      statement = parseStatement(text);
    }
    const context = this.contextOf(query, request, user);
    if (statement.kind === 'insert') {
      const dataStart = Buffer.byteLength(text.slice(0, statement.dataOffset));
      const inline = Buffer.concat([Buffer.from(urlStatement ?? ''), head.bytes]).subarray(dataStart);
      await this.insert(response, query, context, statement, body, skipToData(inline), aborted.signal);
      return;
    }
    if (!head.isWhole)
      throw ClickHouseException.of(
        'QUERY_IS_TOO_LARGE',
        `The statement is longer than ${MAX_QUERY_BYTES} bytes, which is the maximum`,
      );
    if (statement.kind === 'rows')
      await this.rows(request, response, query, context, statement, aborted.signal);
    else await this.command(response, query, context, statement, aborted.signal);
  }

  private async rows(
    request: IncomingMessage,
    response: ServerResponse,
    query: QueryRequest,
    context: StatementContext,
    statement: RowsStatement,
    signal: AbortSignal,
  ) {
    const format = statement.format ?? query.defaultFormat;
    const release = await (context.access === 'readonly' ? this.readonlyReads : this.reads).acquire(signal);
    try {
      const pipe = this.options.pipes.open();
      const running = this.options.engine.run(
        `${statement.body}\nINTO OUTFILE ${quoteString(pipe.path)} APPEND\nFORMAT ${format}${statement.tail}`,
        context,
      );
      running.result.catch(() => undefined).finally(() => pipe.finish());
      const stopCancelling = cancelOnAbort(running, signal);
      try {
        await sendResult(response, pipe.bytes, running.result, {
          queryId: query.queryId,
          format,
          coding: query.compressResponse ? responseCoding(request.headers) : null,
          holdBytes: query.waitEndOfQuery ? HOLD_BYTES_UNTIL_END : HOLD_BYTES,
          stallMs: STALL_MS,
        });
      } finally {
        stopCancelling();
      }
    } finally {
      release();
    }
  }

  private async insert(
    response: ServerResponse,
    query: QueryRequest,
    context: StatementContext,
    statement: InsertStatement,
    body: RequestBody,
    head: Buffer,
    signal: AbortSignal,
  ) {
    const spooled = await body.spool(head);
    try {
      if (spooled.sizeBytes === 0) {
        endEmpty(response, query, formatSummary({ elapsedSeconds: 0 }));
        return;
      }
      const release = await this.writes.acquire(signal);
      try {
        const { numRows, numBytes, elapsedSeconds } = await this.options.engine.run(
          `${statement.target}\nFROM INFILE ${quoteString(spooled.path)} COMPRESSION 'none' ${statement.tail}\nFORMAT ${statement.format}`,
          context,
        ).result;
        endEmpty(
          response,
          query,
          formatSummary({
            readRows: numRows,
            readBytes: numBytes,
            writtenRows: numRows,
            writtenBytes: numBytes,
            elapsedSeconds,
          }),
        );
      } finally {
        release();
      }
    } finally {
      await spooled.remove();
    }
  }

  private async command(
    response: ServerResponse,
    query: QueryRequest,
    context: StatementContext,
    statement: CommandStatement,
    signal: AbortSignal,
  ) {
    const release = await this.writes.acquire(signal);
    try {
      const { bytes, numRows, numBytes, elapsedSeconds } = await this.options.engine.run(
        statement.text,
        context,
        { format: query.defaultFormat },
      ).result;
      response.writeHead(200, {
        'Content-Type': contentTypeOf(query.defaultFormat),
        'X-ClickHouse-Format': query.defaultFormat,
        'X-ClickHouse-Summary': formatSummary({
          readRows: numRows,
          readBytes: numBytes,
          resultBytes: bytes.length,
          elapsedSeconds,
        }),
      });
      response.end(bytes);
    } finally {
      release();
    }
  }

  private contextOf(query: QueryRequest, request: IncomingMessage, user: StoreUser): StatementContext {
    return {
      database: query.database,
      parameters: query.parameters,
      access: user.access,
      settings: new Map([...DEFAULT_SETTINGS, ...query.settings]),
      readonlyLevel: user.access === 'readonly' ? 1 : request.method === 'GET' ? 2 : 0,
    };
  }
}

function endEmpty(response: ServerResponse, query: QueryRequest, summary: string): void {
  response.writeHead(200, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Query-Id': query.queryId,
    'X-ClickHouse-Summary': summary,
  });
  response.end();
}

/** Data starts behind the first line break that follows the format's name, or behind the blanks where there is none. */
function skipToData(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === 0x20 || bytes[start] === 0x09 || bytes[start] === 0x0c) start++;
  if (bytes[start] === 0x0d) start++;
  if (bytes[start] === 0x0a) start++;
  return bytes.subarray(start);
}

/** Stops a statement whose client went away. Asked again until it has settled: it may not have reached the engine yet. */
function cancelOnAbort(running: RunningStatement, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    void running.cancel().catch(() => undefined);
    timer = setTimeout(cancel, CANCEL_RETRY_MS);
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  return () => {
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
  };
}
