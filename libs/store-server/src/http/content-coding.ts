import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { BlockCompressor } from './block-compression/block-compressor.js';
import { ClickHouseException } from '../statement/clickhouse-exception.js';

/** A compressor that can be flushed. */
export type Compressor = zlib.Gzip | zlib.Deflate | zlib.BrotliCompress | BlockCompressor;

export interface ResponseCoding {
  /** Name in Content-Encoding; null for ClickHouse's own blocks, which HTTP does not know. */
  readonly name: string | null;
  readonly compressor: Compressor;
}

interface ContentCoding {
  readonly compress: () => Compressor;
  readonly decompress: () => Transform;
}

/** Codings in order of preference. Levels favour speed, because both ends are on one machine or a fast network. */
const CODINGS: Readonly<Record<string, ContentCoding>> = {
  gzip: { compress: () => zlib.createGzip({ level: 1 }), decompress: () => zlib.createGunzip() },
  deflate: { compress: () => zlib.createDeflate({ level: 1 }), decompress: () => zlib.createInflate() },
  br: {
    compress: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    decompress: () => zlib.createBrotliDecompress(),
  },
};

/** Codings of a body that only the engine can decode. */
const ENGINE_CODINGS: ReadonlySet<string> = new Set(['zstd', 'lz4', 'xz', 'bz2', 'snappy']);

/**
 * Returns the transform that decodes a request's Content-Encoding; null when it has none.
 *
 * @throws ClickHouseException UNSUPPORTED_MEDIA_TYPE for another coding than gzip, deflate and br
 */
export function requestDecompressor(headers: IncomingHttpHeaders): Transform | null {
  const name = readCoding(headers);
  if (name === 'none') return null;
  const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
  if (coding === undefined) {
    throw ClickHouseException.of(
      'UNSUPPORTED_MEDIA_TYPE',
      `Content-Encoding ${name} is not supported here; send gzip, deflate, br or none (the data of an INSERT: ${[...ENGINE_CODINGS].join(', ')} too)`,
    );
  }
  return coding.decompress();
}

/** Returns the request's Content-Encoding if the engine has to decode it, else null. */
export function engineCoding(headers: IncomingHttpHeaders): string | null {
  const name = readCoding(headers);
  return ENGINE_CODINGS.has(name) ? name : null;
}

function readCoding(headers: IncomingHttpHeaders): string {
  const name = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return name === '' || name === 'identity' ? 'none' : name;
}

/** Chooses a coding for the response that the request accepts; null when there is none. */
export function responseCoding(headers: IncomingHttpHeaders): ResponseCoding | null {
  const accepted = new Set(
    String(headers['accept-encoding'] ?? '')
      .split(',')
      .filter((entry) => !/;\s*q=0(?:\.0*)?\s*$/.test(entry))
      .map((entry) => entry.split(';')[0].trim().toLowerCase()),
  );
  for (const [name, coding] of Object.entries(CODINGS)) {
    if (accepted.has(name)) return { name, compressor: coding.compress() };
  }
  return null;
}

/** Returns the coding of ClickHouse's own blocks, which a client requests with `compress=1`. */
export function blockCoding(): ResponseCoding {
  return { name: null, compressor: new BlockCompressor() };
}
