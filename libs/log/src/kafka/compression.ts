import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import type { KafkaCompression } from './kafka-options.js';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Kafka's numbers for the codecs. */
export const COMPRESSION_TYPES: Readonly<Record<KafkaCompression, number>> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  zstd: CompressionTypes.ZSTD,
};

interface Zstd {
  readonly compress: (bytes: Buffer) => Promise<Uint8Array>;
  readonly decompress: (bytes: Buffer) => Promise<Uint8Array>;
}

/** Level 1: the levels above cost more time than they save bytes on token columns. */
const ZSTD_LEVEL = 1;

type ZstdFunction = (
  bytes: Buffer,
  options: { readonly params?: Readonly<Record<number, number>> },
  callback: (error: Error | null, result: Buffer) => void,
) => void;

/** The zstd functions of `node:zlib` in Node.js ≥ 22.15; the installed types are those of the oldest version that is supported. */
interface ZlibWithZstd {
  readonly zstdCompress: ZstdFunction;
  readonly zstdDecompress: ZstdFunction;
  readonly constants: { readonly ZSTD_c_compressionLevel: number };
}

async function loadZstd(): Promise<Zstd> {
  if ('zstdCompress' in zlib) {
    const { zstdCompress, zstdDecompress, constants } = zlib as unknown as ZlibWithZstd;
    const params = { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL };
    const compress = promisify(zstdCompress);
    const decompress = promisify(zstdDecompress);
    return { compress: (bytes) => compress(bytes, { params }), decompress: (bytes) => decompress(bytes, {}) };
  }
  const [writer, reader] = await Promise.all([import('@bokuweb/zstd-wasm'), import('fzstd')]);
  await writer.init();
  return {
    compress: (bytes) => Promise.resolve(writer.compress(bytes, ZSTD_LEVEL)),
    // `@bokuweb/zstd-wasm` can't read frames without a size, which Java's streams write.
    decompress: (bytes) => Promise.resolve(reader.decompress(bytes)),
  };
}

let zstd: Promise<Zstd> | null = null;

// kafkajs has one table of codecs for the whole process.
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async ({ buffer }: { readonly buffer: Buffer }) => {
    zstd ??= loadZstd();
    return Buffer.from(await (await zstd).compress(buffer));
  },
  decompress: async (buffer: Buffer) => {
    zstd ??= loadZstd();
    const { buffer: memory, byteOffset, byteLength } = await (await zstd).decompress(buffer);
    return Buffer.from(memory, byteOffset, byteLength);
  },
});
