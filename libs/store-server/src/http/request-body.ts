import { randomUUID } from 'node:crypto';
import { createWriteStream, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline as pipe, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import { BlockDecompressor } from './block-compression/block-decompressor.js';
import { engineCoding, requestDecompressor } from './content-coding.js';

export interface RequestBodyOptions {
  /** Longest statement; also the number of bytes in which the data of an INSERT must start. */
  readonly maxQueryBytes: number;
  /** Largest body, after decompression unless the engine decompresses it. */
  readonly maxBodyBytes: number;
  /** Whether the body, after its Content-Encoding is decoded, consists of ClickHouse's compressed blocks. */
  readonly hasBlocks: boolean;
  /** Directory for bodies while they are inserted. */
  readonly spoolDirectory: string;
}

/** Buffer of the file, so that chunks, which come in pieces of 64 KiB, do not wait for the disk one by one. */
const SPOOL_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * A smaller body is written synchronously: opening, writing and closing a file on other threads would wait three times for a core
 * while training uses all of them.
 */
const MAX_SMALL_BYTES = 1024 * 1024;

const NEW_FILE = { mode: 0o600, flag: 'wx', flags: 'wx' } as const;

/** A body in a file whose name the server chose. */
export interface SpooledBody {
  readonly path: string;
  readonly sizeBytes: number;
  /** Compression of the file, by the engine's name for it. */
  readonly compression: string;
  remove(): Promise<void>;
}

/** The body of one request: its head is read to find the statement, and data behind it is written to a file. */
export class RequestBody {
  private chunks: AsyncIterator<Buffer> | null = null;
  private numBytes = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly options: RequestBodyOptions,
  ) {}

  /** Reads the first bytes, which are the whole body if it is no longer than `maxQueryBytes`. */
  async readHead(): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    while (sizeBytes <= this.options.maxQueryBytes) {
      const chunk = await this.next();
      if (chunk === null) return { bytes: Buffer.concat(parts), isWhole: true };
      parts.push(chunk);
      sizeBytes += chunk.length;
    }
    return { bytes: Buffer.concat(parts), isWhole: false };
  }

  /** Writes a body that contains only data into a file. */
  async spoolWhole(): Promise<SpooledBody> {
    const coding = engineCoding(this.request.headers);
    if (coding === null || this.options.hasBlocks) return this.spool(Buffer.alloc(0));
    this.chunks = this.request[Symbol.asyncIterator]();
    return { ...(await this.spool(Buffer.alloc(0))), compression: coding };
  }

  /** Writes `head` and everything not read yet into a file. */
  async spool(head: Buffer): Promise<SpooledBody> {
    const path = join(this.options.spoolDirectory, `body-${randomUUID()}`);
    const remove = () => rm(path, { force: true });
    const parts = [head];
    let sizeBytes = head.length;
    const take = async (): Promise<Buffer | null> => {
      const chunk = await this.next();
      sizeBytes += chunk?.length ?? 0;
      return chunk;
    };
    try {
      let chunk = await take();
      for (; chunk !== null && sizeBytes <= MAX_SMALL_BYTES; chunk = await take()) parts.push(chunk);
      if (chunk === null) writeFileSync(path, Buffer.concat(parts), NEW_FILE);
      else {
        parts.push(chunk);
        await pipeline(
          async function* () {
            yield* parts;
            for (chunk = await take(); chunk !== null; chunk = await take()) yield chunk;
          },
          createWriteStream(path, { ...NEW_FILE, highWaterMark: SPOOL_BUFFER_BYTES }),
        );
      }
    } catch (error) {
      await remove();
      throw asBodyError(error);
    }
    return { path, sizeBytes, compression: 'none', remove };
  }

  private async next(): Promise<Buffer | null> {
    let step: IteratorResult<Buffer>;
    try {
      this.chunks ??= decompressed(this.request, this.options.hasBlocks);
      step = await this.chunks.next();
    } catch (error) {
      throw asBodyError(error);
    }
    if (step.done) return null;
    this.numBytes += step.value.length;
    if (this.numBytes > this.options.maxBodyBytes) {
      throw ClickHouseException.of(
        'QUERY_IS_TOO_LARGE',
        `The request body is larger than ${this.options.maxBodyBytes} bytes, which is the maximum`,
      );
    }
    return step.value;
  }
}

function decompressed(request: IncomingMessage, hasBlocks: boolean): AsyncIterator<Buffer> {
  const decompressor = requestDecompressor(request.headers);
  let stream: Readable = decompressor === null ? request : pipe(request, decompressor, ignoreLateErrors);
  if (hasBlocks) stream = pipe(stream, new BlockDecompressor(), ignoreLateErrors);
  return stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
}

/** Ignores errors in the pipeline's callback, because the async iterator reports the same ones to the reader. */
function ignoreLateErrors(): void {
  return undefined;
}

function asBodyError(error: unknown): unknown {
  if (error instanceof ClickHouseException) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'ENOSPC')
    return ClickHouseException.of(
      'NOT_ENOUGH_SPACE',
      'No space is left on the store’s disk for the request body',
      { cause: error },
    );
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT') || code.startsWith('ERR_')) {
    return ClickHouseException.of(
      'CANNOT_DECOMPRESS',
      'The request body does not match its Content-Encoding, or was truncated',
      { cause: error },
    );
  }
  return ClickHouseException.of(
    'ABORTED',
    'The connection was closed before the whole request body arrived',
    { cause: error },
  );
}
