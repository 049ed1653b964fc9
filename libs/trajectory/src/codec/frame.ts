import { crc32 } from 'node:zlib';

/**
 * The frame around an encoded event: `R T E` (3 bytes), wire version (1 byte), CRC-32 of the body (uint32, little-endian),
 * body. Kafka clients don't check what they fetch and disks fail, so every reader must be able to detect a damaged record.
 */
const MAGIC = [0x52, 0x54, 0x45] as const;
export const FRAME_HEADER_BYTES = 8;
/** Where the checksum begins in a frame. */
export const CRC_POSITION = 4;

/** Version of frame and body layout; payload fields have their own version, `schemaVersion`. */
const WIRE_VERSION = 1;

/** Number of parts in a body: the eight fields of the envelope, and the payload. */
export const NUM_BODY_PARTS = 9;

export type FrameFault = 'NOT_AN_EVENT' | 'UNKNOWN_VERSION' | 'CHECKSUM_MISMATCH';

type Unframed =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly code: FrameFault; readonly reason: string };

export function frame(body: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_HEADER_BYTES + body.length);
  writeFrameHeader(framed, crc32(body));
  framed.set(body, FRAME_HEADER_BYTES);
  return framed;
}

/** Writes the first `FRAME_HEADER_BYTES` of a record whose body has this CRC-32. */
export function writeFrameHeader(target: Buffer, bodyCrc: number): void {
  target[0] = MAGIC[0];
  target[1] = MAGIC[1];
  target[2] = MAGIC[2];
  target[3] = WIRE_VERSION;
  target.writeUInt32LE(bodyCrc, CRC_POSITION);
}

/** Returns the body of a frame, a view into `bytes`, or the fault of the frame. Never throws. */
export function unframe(bytes: Uint8Array): Unframed {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < FRAME_HEADER_BYTES) {
    return fault('NOT_AN_EVENT', `record has ${view.length} bytes; must have at least ${FRAME_HEADER_BYTES}`);
  }
  if (view[0] !== MAGIC[0] || view[1] !== MAGIC[1] || view[2] !== MAGIC[2]) {
    return fault('NOT_AN_EVENT', `record starts with ${view.toString('hex', 0, 3)}; must start with 525445`);
  }
  if (view[3] !== WIRE_VERSION) {
    return fault('UNKNOWN_VERSION', `wire version is ${view[3]}; this reader knows ${WIRE_VERSION}`);
  }
  const body = view.subarray(FRAME_HEADER_BYTES);
  const expected = view.readUInt32LE(CRC_POSITION);
  const actual = crc32(body);
  if (actual !== expected) {
    return fault(
      'CHECKSUM_MISMATCH',
      `CRC-32 of the body is ${hex(actual)}; the frame states ${hex(expected)}`,
    );
  }
  return { ok: true, body };
}

function fault(code: FrameFault, reason: string): Unframed {
  return { ok: false, code, reason };
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
