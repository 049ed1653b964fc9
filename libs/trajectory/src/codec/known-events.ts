import type { AnyEvent } from '../events/event.js';
import { CRC_POSITION } from './frame.js';

/** Most events that wait to be read back, as while the log is unavailable; the oldest are forgotten, and decoded when they are read. */
const MOST_EVENTS = 16_384;

/**
 * Events of this process by their records, so that a reader of the log in the same process need not decode them. `take` gives what `decodeEvent`
 * would give: the bytes are compared, and decoding an encoded event gives an equal one.
 */
export class KnownEvents {
  /** By the CRC-32 of their bodies. Of two with the same CRC the second replaces the first, which must then be decoded. */
  private readonly byCrc = new Map<number, { readonly bytes: Uint8Array; readonly event: AnyEvent }>();

  /** @param bytes what `encodeEvent` made of the event, neither of which changes from now on */
  remember(event: AnyEvent, bytes: Uint8Array): void {
    this.byCrc.set(computeCrc(bytes), { bytes, event });
    if (this.byCrc.size <= MOST_EVENTS) return;
    for (const oldest of this.byCrc.keys()) {
      this.byCrc.delete(oldest);
      return;
    }
  }

  /** The event of a record, which is forgotten then; null where it is not known. */
  take(bytes: Uint8Array): AnyEvent | null {
    const crc = computeCrc(bytes);
    const known = this.byCrc.get(crc);
    if (known === undefined || Buffer.compare(known.bytes, bytes) !== 0) return null;
    this.byCrc.delete(crc);
    return known.event;
  }
}

/** −1 for what is too short for a record. */
function computeCrc(bytes: Uint8Array): number {
  if (bytes.length < CRC_POSITION + 4) return -1;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32LE(CRC_POSITION);
}
