import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { Compressor, ResponseCoding } from './content-coding.js';
import type { StatementResult } from '../engine/engine.js';

export interface ResultResponseOptions {
  readonly format: string;
  readonly coding: ResponseCoding | null;
  /** Bytes that are held back before the status is sent: a failure among them becomes a status, not a torn body. */
  readonly holdBytes: number;
  /** A client that reads nothing for so long is disconnected. */
  readonly stallMs: number;
}

const CONTENT_TYPE_OF_FORMAT: readonly (readonly [pattern: RegExp, contentType: string])[] = [
  [
    /^JSON(?:Strings|Compact|CompactStrings|ColumnsWithMetadata|Columns|CompactColumns)?$/i,
    'application/json; charset=UTF-8',
  ],
  [/^(?:JSON.*EachRow.*|JSONLines|NDJSON)$/i, 'application/x-ndjson; charset=UTF-8'],
  [/^CSV/i, 'text/csv; charset=UTF-8; header=absent'],
  [/^(?:TSV|TabSeparated)/i, 'text/tab-separated-values; charset=UTF-8'],
  [
    /^(?:Arrow|ArrowStream|Avro|BSONEachRow|MsgPack|Native|Npy|ORC|Parquet|Protobuf.*|RowBinary.*)$/i,
    'application/octet-stream',
  ],
];

/**
 * Sends the result of a statement while it is produced, no faster than the client reads it.
 *
 * A failure before anything was sent is thrown, for the caller to answer with its status. A failure later ends the body as
 * ClickHouse does: an exception block marked with the tag of X-ClickHouse-Exception-Tag, then a connection closed in mid-body.
 *
 * @param bytes the result's bytes; always read to their end, since an engine that can't write would never finish
 * @param result settles before `bytes` ends
 */
export async function sendResult(
  response: ServerResponse,
  bytes: Socket,
  result: Promise<StatementResult>,
  options: ResultResponseOptions,
): Promise<void> {
  const exceptionTag = randomBytes(8).toString('hex');
  let body: Writable | null = null;
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (response.destroyed) continue;
    if (body !== null) {
      await write(body, chunk, response, options.stallMs);
      continue;
    }
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= options.holdBytes) {
      body = startBody(response, options, { 'X-ClickHouse-Exception-Tag': exceptionTag });
      await write(body, Buffer.concat(held), response, options.stallMs);
      held = [];
    }
  }
  if (body === null) {
    const { numRows, elapsedSeconds } = await result;
    body = startBody(response, options, {
      'X-ClickHouse-Exception-Tag': exceptionTag,
      'X-ClickHouse-Summary': formatSummary(elapsedSeconds, {
        result_rows: numRows,
        result_bytes: heldBytes,
      }),
      ...(options.coding === null ? { 'Content-Length': String(heldBytes) } : {}),
    });
    body.end(Buffer.concat(held));
    return;
  }
  try {
    await result;
    body.end();
  } catch (error) {
    await tearBody(response, body, ClickHouseException.fromEngine(error), exceptionTag, options);
  }
}

/** Counts of a summary; those that the engine does not report stay 0. */
const NO_COUNTS = {
  read_rows: 0,
  read_bytes: 0,
  written_rows: 0,
  written_bytes: 0,
  total_rows_to_read: 0,
  result_rows: 0,
  result_bytes: 0,
};

/** Formats X-ClickHouse-Summary: numbers as strings, as a server does. */
export function formatSummary(elapsedSeconds: number, counts: Partial<typeof NO_COUNTS> = {}): string {
  const numbers = { ...NO_COUNTS, ...counts, elapsed_ns: Math.round(elapsedSeconds * 1e9) };
  return JSON.stringify(Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, `${n}`])));
}

export function toContentType(format: string): string {
  return CONTENT_TYPE_OF_FORMAT.find(([pattern]) => pattern.test(format))?.[1] ?? 'text/plain; charset=UTF-8';
}

function startBody(
  response: ServerResponse,
  options: ResultResponseOptions,
  headers: Record<string, string>,
): Writable {
  response.writeHead(200, {
    'Content-Type': toContentType(options.format),
    'X-ClickHouse-Format': options.format,
    ...(options.coding?.name ? { 'Content-Encoding': options.coding.name } : {}),
    ...headers,
  });
  if (options.coding === null) return response;
  options.coding.compressor.pipe(response);
  return options.coding.compressor;
}

/** Resolves when more may be written, or when the response is closed. */
async function write(
  body: Writable,
  chunk: Buffer,
  response: ServerResponse,
  stallMs: number,
): Promise<void> {
  if (body.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      body.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    const timer = setTimeout(() => response.destroy(), stallMs);
    body.on('drain', settle);
    response.on('close', settle);
    if (response.destroyed) settle();
  });
}

/** Resolves when the compressor has emitted all of its input, or when the response is closed. */
async function flush(compressor: Compressor, response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    if (response.destroyed) resolve();
    else compressor.flush(() => resolve());
  });
}

async function tearBody(
  response: ServerResponse,
  body: Writable,
  exception: ClickHouseException,
  tag: string,
  options: ResultResponseOptions,
): Promise<void> {
  const message = `${exception.message}\n`;
  const block = `\r\n__exception__\r\n${tag}\r\n${message}${Buffer.byteLength(message)} ${tag}\r\n__exception__\r\n`;
  await write(body, Buffer.from(block), response, options.stallMs);
  if (options.coding !== null) await flush(options.coding.compressor, response);
  // Without its last chunk no client can take the body for a complete one.
  response.socket?.destroySoon();
}
