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
  /** Longest statement, and most bytes looked at to find where the data of an INSERT starts. */
  readonly maxQueryBytes: number;
  /** Largest body, after decompression where it is not left to the engine. */
  readonly maxBodyBytes: number;
  /** Whether the body, once its Content-Encoding is undone, consists of ClickHouse's compressed blocks. */
  readonly hasBlocks: boolean;
  /** Where bodies are kept while they are inserted. */
  readonly spoolDirectory: string;
}

/** Written to the spool without waiting for the disk between chunks, which come in pieces of 64 KiB. */
const SPOOL_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * A smaller body is written at once: opening, writing and closing a file on other threads would wait three times for a core
 * where training has them all.
 */
const MAX_SMALL_BYTES = 1024 * 1024;

const NEW_FILE = { mode: 0o600, flag: 'wx', flags: 'wx' } as const;

/** A body kept in a file of ours, whose name no client chooses. */
export interface SpooledBody {
  readonly path: string;
  readonly sizeBytes: number;
  /** How the file is compressed, in the engine's words. */
  readonly compression: string;
  remove(): Promise<void>;
}

/** The body of one request: its head is read to find the statement, the rest goes into a file where it is data. */
export class RequestBody {
  private chunks: AsyncIterator<Buffer> | null = null;
  private numBytes = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly options: RequestBodyOptions,
  ) {}

  /** The first bytes: the whole body where it is no longer than `maxQueryBytes`. */
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

  /** Writes a body of nothing but data into a file. */
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

/** The async iterator reports the same error to whoever reads; the pipeline's callback has nothing to add. */
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
      'The request body is not what its Content-Encoding says, or was cut off',
      { cause: error },
    );
  }
  return ClickHouseException.of(
    'ABORTED',
    'The connection was closed before the whole request body arrived',
    { cause: error },
  );
}
