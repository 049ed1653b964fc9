import { crc32 } from 'node:zlib';

/**
 * The frame around an encoded event: `R T E` (3 bytes), wire version (1 byte), CRC-32 of the body (uint32, little-endian),
 * body. Kafka clients don't check what they fetch and disks err, so every reader can tell a damaged record by itself.
 */
const MAGIC = [0x52, 0x54, 0x45] as const;
const HEADER_BYTES = 8;

/** Version of frame and body layout; payload fields have their own version, `schemaVersion`. */
export const WIRE_VERSION = 1;

export type FrameFault = 'NOT_AN_EVENT' | 'UNKNOWN_VERSION' | 'CHECKSUM_MISMATCH';

export type Unframed =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly code: FrameFault; readonly reason: string };

export function frame(body: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  framed.set(MAGIC, 0);
  framed[3] = WIRE_VERSION;
  framed.writeUInt32LE(crc32(body), 4);
  framed.set(body, HEADER_BYTES);
  return framed;
}

/** The body of a frame, a view into `bytes`; or what is wrong with it. Never throws. */
export function unframe(bytes: Uint8Array): Unframed {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < HEADER_BYTES) {
    return fault('NOT_AN_EVENT', `record has ${view.length} bytes; must have at least ${HEADER_BYTES}`);
  }
  if (MAGIC.some((byte, i) => view[i] !== byte)) {
    return fault('NOT_AN_EVENT', `record starts with ${view.toString('hex', 0, 3)}; must start with 525445`);
  }
  if (view[3] !== WIRE_VERSION) {
    return fault('UNKNOWN_VERSION', `wire version is ${view[3]}; this reader knows ${WIRE_VERSION}`);
  }
  const body = view.subarray(HEADER_BYTES);
  const expected = view.readUInt32LE(4);
  const actual = crc32(body);
  if (actual !== expected) {
    return fault(
      'CHECKSUM_MISMATCH',
      `CRC-32 of the body is ${hex(actual)}; the frame says ${hex(expected)}`,
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
