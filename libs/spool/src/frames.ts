import { crc32 } from 'node:zlib';

/** A frame: length of the record (uint32, little-endian), CRC-32 of length and record (uint32, little-endian), record. */
const FRAME_HEADER_BYTES = 8;
/** A greater length is damage. */
export const MAX_RECORD_BYTES = 256 * 1024 * 1024;
const MAX_LAST_LENGTH_BYTE = MAX_RECORD_BYTES >>> 24;
const SEARCH_CHUNK_BYTES = 1024 * 1024;
/** Bytes whose checksum a search computes at most: below a second. */
const MAX_CHECKED_BYTES = 512 * 1024 * 1024;

/** Size in a file of a record of `recordBytes` bytes. */
export function framedBytes(recordBytes: number): number {
  return FRAME_HEADER_BYTES + recordBytes;
}

/** Writes the frame of a record at a position. @returns where it ends */
export function writeFrame(bytes: Buffer, at: number, record: Uint8Array): number {
  bytes.writeUInt32LE(record.length, at);
  bytes.writeUInt32LE(computeChecksum(bytes, at, record), at + 4);
  bytes.set(record, at + FRAME_HEADER_BYTES);
  return at + framedBytes(record.length);
}

/** The record of a frame that is all of `bytes`; null when it is damaged. */
export function recordIn(bytes: Buffer): Buffer | null {
  const record = bytes.subarray(FRAME_HEADER_BYTES);
  return computeChecksum(bytes, 0, record) === bytes.readUInt32LE(4) ? record : null;
}

/** Returns that many bytes of a file; they are valid until the next call. */
export type ReadAt = (at: number, length: number) => Promise<Buffer>;

/** The record of the frame at `at` of a file of `fileBytes` bytes; null when no whole frame is there. */
export async function recordAt(at: number, fileBytes: number, read: ReadAt): Promise<Buffer | null> {
  if (at + FRAME_HEADER_BYTES > fileBytes) return null;
  const length = (await read(at, FRAME_HEADER_BYTES)).readUInt32LE(0);
  const numBytes = framedBytes(length);
  if (length > MAX_RECORD_BYTES || at + numBytes > fileBytes) return null;
  return recordIn(await read(at, numBytes));
}

/** Whether the bytes from `at` to the end of a file can be one frame that was not written to its end. */
export async function isTornFrame(at: number, fileBytes: number, read: ReadAt): Promise<boolean> {
  if (at + FRAME_HEADER_BYTES > fileBytes) return true;
  const length = (await read(at, FRAME_HEADER_BYTES)).readUInt32LE(0);
  return length <= MAX_RECORD_BYTES && at + framedBytes(length) >= fileBytes;
}

export type FrameSearch =
  | { readonly kind: 'found'; readonly at: number }
  | { readonly kind: 'none' }
  /** Too many bytes look like the beginning of a frame to check them all. */
  | { readonly kind: 'unknown' };

/**
 * Searches the bytes from `from` on for the next whole frame, whatever they are. Only for those behind damage: a record of a sound file
 * may contain a whole frame.
 */
export async function searchFrame(from: number, fileBytes: number, read: ReadAt): Promise<FrameSearch> {
  let numChecked = 0;
  for (let chunkAt = from; chunkAt + FRAME_HEADER_BYTES <= fileBytes;) {
    const chunk = Buffer.from(await read(chunkAt, Math.min(SEARCH_CHUNK_BYTES, fileBytes - chunkAt)));
    const lastOffset = chunk.length - FRAME_HEADER_BYTES;
    for (let offset = 0; offset <= lastOffset; offset++) {
      // Lengths below 256 MiB have a low last byte, which text never has.
      if (chunk[offset + 3] > MAX_LAST_LENGTH_BYTE) continue;
      const length = chunk.readUInt32LE(offset);
      const at = chunkAt + offset;
      // Runs of zeros are long, and never a frame.
      if (length === 0 && chunk.readUInt32LE(offset + 4) === 0) continue;
      if (length > MAX_RECORD_BYTES || at + framedBytes(length) > fileBytes) continue;
      const end = offset + framedBytes(length);
      const frame = end <= chunk.length ? chunk.subarray(offset, end) : await read(at, framedBytes(length));
      if (recordIn(frame) !== null) return { kind: 'found', at };
      numChecked += frame.length;
      if (numChecked > MAX_CHECKED_BYTES) return { kind: 'unknown' };
    }
    chunkAt += lastOffset + 1;
  }
  return { kind: 'none' };
}

/** @param at where the length of the record is in `bytes` */
function computeChecksum(bytes: Buffer, at: number, record: Uint8Array): number {
  return crc32(record, crc32(bytes.subarray(at, at + 4)));
}
