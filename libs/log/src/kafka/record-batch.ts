import { crc32 } from 'node:zlib';

/** One Kafka message. Without a header its value is a record, byte for byte. */
export interface Message {
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Role of a message with our header. `fragment`: part of a record that is too large for one request; not a record by itself.
 * `pointer`: takes the place of such a record, and names its fragments, which have lower offsets.
 */
type MessageRole = 'fragment' | 'pointer';

export const ROLE_HEADER = 'retrace';

/** Bytes of a batch besides its messages, and of a message besides its value, with our header. */
export const BATCH_OVERHEAD_BYTES = 1024;
const MESSAGE_OVERHEAD_BYTES = 48;

/** kafkajs passes the records of a batch as arguments of one call when it reads them, and the stack is limited. */
export const MAX_BATCH_RECORDS = 20_000;

/** Largest size that a record can take in a batch. */
export function messageBytes(value: Uint8Array): number {
  return value.length + MESSAGE_OVERHEAD_BYTES;
}

export function toMessage(record: Uint8Array): Message {
  return { value: Buffer.from(record.buffer, record.byteOffset, record.byteLength) };
}

export function withRole(value: Buffer, role: MessageRole): Message {
  return { value, headers: { [ROLE_HEADER]: role } };
}

/** Content of a pointer: size and CRC-32 of the record, and the offsets of its fragments, in order. */
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

/** Null when the bytes are not a pointer. */
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

/** Joins a record from its fragments; null when they don't match the pointer. */
export function joinFragments({ sizeBytes, checksum }: Pointer, fragments: readonly Buffer[]): Buffer | null {
  const record = Buffer.concat(fragments);
  return record.length === sizeBytes && crc32(record) === checksum ? record : null;
}

/**
 * Chooses the records of an append, the largest first, that are sent in fragments so that the rest, with a pointer for each, fits into one
 * batch. Null when not even all of them are enough.
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
    const saved = records[i].length - pointerBytes(records[i].length, computeFragmentBytes(maxBatchBytes));
    if (saved <= 0) return null;
    total -= saved;
    chosen.add(i);
  }
  return total <= maxBatchBytes ? chosen : null;
}

/** Size of a fragment, which fills a batch. */
export function computeFragmentBytes(maxBatchBytes: number): number {
  return maxBatchBytes - MESSAGE_OVERHEAD_BYTES;
}
