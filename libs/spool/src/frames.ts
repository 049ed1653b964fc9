import { crc32 } from 'node:zlib';

/** A frame: length of the record (uint32, little-endian), CRC-32 of length and record (uint32, little-endian), record. */
export const FRAME_HEADER_BYTES = 8;
/** A greater length is damage. */
export const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/** Size in a file of a record of `recordBytes` bytes. */
export function framedBytes(recordBytes: number): number {
  return FRAME_HEADER_BYTES + recordBytes;
}

/** Writes the frame of a record at a position. @returns where it ends */
export function writeFrame(bytes: Buffer, at: number, record: Uint8Array): number {
  bytes.writeUInt32LE(record.length, at);
  bytes.writeUInt32LE(checksumOf(bytes, at, record), at + 4);
  bytes.set(record, at + FRAME_HEADER_BYTES);
  return at + framedBytes(record.length);
}

/** The record of a frame that is all of `bytes`; null when it is damaged. */
export function recordIn(bytes: Buffer): Buffer | null {
  const record = bytes.subarray(FRAME_HEADER_BYTES);
  return checksumOf(bytes, 0, record) === bytes.readUInt32LE(4) ? record : null;
}

/** A frame of a file, or what is in the place of one. */
export type FoundFrame =
  | { readonly kind: 'whole'; readonly record: Buffer }
  /** `numBytes` have a frame's length, and not its checksum. */
  | { readonly kind: 'damaged'; readonly numBytes: number }
  /** Fewer bytes follow than a frame has. */
  | { readonly kind: 'torn' };

/** Finds the frame at `at` of a file of `fileBytes` bytes. @param read returns that many bytes of the file */
export async function findFrame(
  at: number,
  fileBytes: number,
  read: (at: number, length: number) => Promise<Buffer>,
): Promise<FoundFrame> {
  if (at + FRAME_HEADER_BYTES > fileBytes) return { kind: 'torn' };
  const length = (await read(at, FRAME_HEADER_BYTES)).readUInt32LE(0);
  const numBytes = framedBytes(length);
  if (length > MAX_RECORD_BYTES || at + numBytes > fileBytes) return { kind: 'torn' };
  const record = recordIn(await read(at, numBytes));
  return record === null ? { kind: 'damaged', numBytes } : { kind: 'whole', record };
}

/** @param at where the length of the record is in `bytes` */
function checksumOf(bytes: Buffer, at: number, record: Uint8Array): number {
  return crc32(record, crc32(bytes.subarray(at, at + 4)));
}
