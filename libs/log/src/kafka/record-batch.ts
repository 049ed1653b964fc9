import { crc32 } from 'node:zlib';

/** One Kafka message of ours. Without a header its value is a record, byte for byte. */
export interface Message {
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What a message with our header is. `fragment`: a part of a record that is too large for one request; no record by itself.
 * `pointer`: stands for such a record, at its offset, and names its fragments, which lie before it.
 */
export type MessageRole = 'fragment' | 'pointer';

export const ROLE_HEADER = 'retrace';

/** Room that a batch takes beside its messages; and a message beside its value, with our header. */
export const BATCH_OVERHEAD_BYTES = 1024;
const MESSAGE_OVERHEAD_BYTES = 48;

/** kafkajs spreads a batch over the arguments of one call when it reads it, and the stack has an end. */
export const MAX_BATCH_RECORDS = 20_000;

/** Size of a record in a batch, at most. */
export function messageBytes(value: Uint8Array): number {
  return value.length + MESSAGE_OVERHEAD_BYTES;
}

export function messageOf(record: Uint8Array): Message {
  return { value: Buffer.from(record.buffer, record.byteOffset, record.byteLength) };
}

export function withRole(value: Buffer, role: MessageRole): Message {
  return { value, headers: { [ROLE_HEADER]: role } };
}

/** What a pointer says: size and CRC-32 of the record, and the offsets of its fragments, in order. */
export interface Pointer {
  readonly sizeBytes: number;
  readonly checksum: number;
  readonly offsets: readonly number[];
}

const POINTER_HEAD_BYTES = 8;
const OFFSET_BYTES = 6;

/** Size of the pointer to a record of `sizeBytes` in fragments of `fragmentBytes`. */
export function pointerBytes(sizeBytes: number, fragmentBytes: number): number {
  return POINTER_HEAD_BYTES + OFFSET_BYTES * Math.ceil(sizeBytes / fragmentBytes);
}

export function encodePointer(record: Uint8Array, offsets: readonly number[]): Buffer {
  const pointer = Buffer.alloc(POINTER_HEAD_BYTES + OFFSET_BYTES * offsets.length);
  pointer.writeUInt32LE(record.length, 0);
  pointer.writeUInt32LE(crc32(record), 4);
  offsets.forEach((offset, i) =>
    pointer.writeUIntLE(offset, POINTER_HEAD_BYTES + OFFSET_BYTES * i, OFFSET_BYTES),
  );
  return pointer;
}

/** Null when the bytes are no pointer. */
export function decodePointer(bytes: Buffer): Pointer | null {
  const numOffsets = (bytes.length - POINTER_HEAD_BYTES) / OFFSET_BYTES;
  if (!Number.isInteger(numOffsets) || numOffsets < 1) return null;
  return {
    sizeBytes: bytes.readUInt32LE(0),
    checksum: bytes.readUInt32LE(4),
    offsets: Array.from({ length: numOffsets }, (_, i) =>
      bytes.readUIntLE(POINTER_HEAD_BYTES + OFFSET_BYTES * i, OFFSET_BYTES),
    ),
  };
}

/** The record out of its fragments; null when they are not what the pointer says. */
export function joinFragments({ sizeBytes, checksum }: Pointer, fragments: readonly Buffer[]): Buffer | null {
  const record = Buffer.concat(fragments);
  return record.length === sizeBytes && crc32(record) === checksum ? record : null;
}

/**
 * Which records of an append have to go in fragments so that the rest, with a pointer for each, fits into one batch: the
 * largest first. Null when not even that helps.
 */
export function chooseFragmented(
  records: readonly Uint8Array[],
  maxBatchBytes: number,
): ReadonlySet<number> | null {
  let total = records.reduce((sum, record) => sum + messageBytes(record), 0);
  const chosen = new Set<number>();
  if (records.length > MAX_BATCH_RECORDS) return null;
  const bySize = records.map((_, i) => i).sort((a, b) => records[b].length - records[a].length);
  for (const i of bySize) {
    if (total <= maxBatchBytes) return chosen;
    const saved = records[i].length - pointerBytes(records[i].length, fragmentBytesOf(maxBatchBytes));
    if (saved <= 0) return null;
    total -= saved;
    chosen.add(i);
  }
  return total <= maxBatchBytes ? chosen : null;
}

/** A fragment fills a batch of its own. */
export function fragmentBytesOf(maxBatchBytes: number): number {
  return maxBatchBytes - MESSAGE_OVERHEAD_BYTES;
}
