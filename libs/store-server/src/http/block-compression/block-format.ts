import { compressSync, uncompressSync } from 'lz4-napi';
import { ClickHouseException } from '../../statement/clickhouse-exception.js';
import { cityHash128 } from './city-hash-128.js';

/*
 * A block of ClickHouse's own compression, in its HTTP bodies (`compress=1`, `decompress=1`), its native protocol and its files:
 *
 *   checksum  16 bytes, CityHash128 of all that follows
 *   method     1 byte
 *   size       4 bytes, of method, both sizes and the compressed bytes
 *   full size  4 bytes, of the decompressed bytes
 *   …          the compressed bytes
 *
 * Numbers are little endian. https://clickhouse.com/docs/development/architecture, `CompressedReadBufferBase.cpp`.
 */

const CHECKSUM_BYTES = 16;
const HEAD_BYTES = 9;
/** Size of the prefix that contains the size of a block. */
export const BLOCK_PREFIX_BYTES = CHECKSUM_BYTES + HEAD_BYTES;

const METHOD_NONE = 0x02;
const METHOD_LZ4 = 0x82;

/** Larger than clients write. ClickHouse itself allows 1 GiB, which would have to be held in memory. */
const MAX_BLOCK_BYTES = 128 * 1024 * 1024;

/** lz4-napi writes the full size before the compressed bytes, and expects it there. */
const LZ4_SIZE_BYTES = 4;

/** Compresses `bytes` with LZ4 into one block. */
export function encodeBlock(bytes: Buffer): Buffer {
  const compressed = compressSync(bytes);
  const size = HEAD_BYTES + compressed.length - LZ4_SIZE_BYTES;
  const block = Buffer.allocUnsafe(CHECKSUM_BYTES + size);
  block.writeUInt8(METHOD_LZ4, CHECKSUM_BYTES);
  block.writeUInt32LE(size, CHECKSUM_BYTES + 1);
  block.writeUInt32LE(bytes.length, CHECKSUM_BYTES + 5);
  compressed.copy(block, BLOCK_PREFIX_BYTES, LZ4_SIZE_BYTES);
  cityHash128(block.subarray(CHECKSUM_BYTES)).copy(block);
  return block;
}

/**
 * Reads the size of a block from its first {@link BLOCK_PREFIX_BYTES}.
 *
 * @throws ClickHouseException CANNOT_DECOMPRESS for sizes that are impossible or larger than 128 MiB
 */
export function blockBytes(prefix: Buffer): number {
  const size = prefix.readUInt32LE(CHECKSUM_BYTES + 1);
  const fullSize = prefix.readUInt32LE(CHECKSUM_BYTES + 5);
  if (size < HEAD_BYTES || size > MAX_BLOCK_BYTES || fullSize > MAX_BLOCK_BYTES) {
    const sizes = `a compressed block has ${size} bytes and holds ${fullSize}`;
    throw cannotDecompress(
      `${sizes}; must have ${HEAD_BYTES} to ${MAX_BLOCK_BYTES} and hold no more than that`,
    );
  }
  return CHECKSUM_BYTES + size;
}

/**
 * Decompresses one whole block.
 *
 * @throws ClickHouseException CHECKSUM_DOESNT_MATCH, CANNOT_DECOMPRESS, UNSUPPORTED_METHOD for another method than LZ4 and none
 */
export function decodeBlock(block: Buffer): Buffer {
  const checked = block.subarray(CHECKSUM_BYTES);
  if (!cityHash128(checked).equals(block.subarray(0, CHECKSUM_BYTES))) {
    throw ClickHouseException.of(
      'CHECKSUM_DOESNT_MATCH',
      `Checksum doesn't match: a compressed block of ${block.length} bytes is damaged, or the bytes are not a block`,
    );
  }
  const method = block.readUInt8(CHECKSUM_BYTES);
  const fullSize = block.readUInt32LE(CHECKSUM_BYTES + 5);
  const bytes = decompress(method, block.subarray(BLOCK_PREFIX_BYTES), fullSize);
  if (bytes.length !== fullSize) {
    throw cannotDecompress(`a compressed block states ${fullSize} bytes but holds ${bytes.length}`);
  }
  return bytes;
}

function decompress(method: number, compressed: Buffer, fullSize: number): Buffer {
  if (method === METHOD_NONE) return compressed;
  if (method !== METHOD_LZ4) {
    throw ClickHouseException.of(
      'UNSUPPORTED_METHOD',
      `Blocks compressed by method 0x${method.toString(16)} are not supported; use LZ4 (0x82) or none (0x02)`,
    );
  }
  const sized = Buffer.allocUnsafe(LZ4_SIZE_BYTES + compressed.length);
  sized.writeUInt32LE(fullSize);
  compressed.copy(sized, LZ4_SIZE_BYTES);
  try {
    return uncompressSync(sized);
  } catch (error) {
    throw cannotDecompress(`a compressed block can't be read: ${(error as Error).message}`, error);
  }
}

export function cannotDecompress(what: string, cause?: unknown): ClickHouseException {
  return ClickHouseException.of('CANNOT_DECOMPRESS', `Cannot decompress: ${what}`, { cause });
}
