import { uuidFromBytes } from '../uuid.js';
import { unframe } from './frame.js';

/** What a record says about itself before its payload. Nothing of it is validated: kind and version may be unknown here. */
export interface PeekedEnvelope {
  readonly kind: string;
  readonly schemaVersion: number;
  readonly eventId: string;
  readonly logId: string;
  readonly runId: string;
  readonly episodeId: string;
  readonly seq: number;
  readonly occurredAtUs: number;
}

const NUM_BODY_PARTS = 9;

/**
 * The envelope of a record, read without its payload: whose it is, also where this code can't decode it. Null where the
 * record is damaged or has no envelope of ours. Never throws.
 *
 * Reads the MessagePack forms that `encodeEvent` writes: a fixarray of str, uint, bin 8, float 64 and the like.
 */
export function peekEnvelope(bytes: Uint8Array): PeekedEnvelope | null {
  const unframed = unframe(bytes);
  if (!unframed.ok || unframed.body[0] !== (0x90 | NUM_BODY_PARTS)) return null;
  const reader = new PartReader(unframed.body, 1);
  try {
    return {
      kind: reader.text(),
      schemaVersion: reader.number(),
      eventId: reader.uuid(),
      logId: reader.uuid(),
      runId: reader.uuid(),
      episodeId: reader.uuid(),
      seq: reader.number(),
      occurredAtUs: reader.number(),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Walks the parts of a body. Throws RangeError at what it does not expect, and where the body ends too soon. */
class PartReader {
  constructor(
    private readonly body: Buffer,
    private at: number,
  ) {}

  text(): string {
    const tag = this.body.readUInt8(this.at++);
    const length = tag === 0xd9 ? this.body.readUInt8(this.at++) : tag - 0xa0;
    if (length < 0 || (tag !== 0xd9 && length > 31)) throw unexpected(tag);
    return this.take(length).toString('utf8');
  }

  uuid(): string {
    const tag = this.body.readUInt8(this.at++);
    if (tag !== 0xc4) throw unexpected(tag);
    const length = this.body.readUInt8(this.at++);
    if (length !== 0 && length !== 16) throw new RangeError(`id has ${length} bytes`);
    return length === 0 ? '' : uuidFromBytes(this.take(length));
  }

  number(): number {
    const tag = this.body.readUInt8(this.at++);
    if (tag < 0x80) return tag;
    switch (tag) {
      case 0xca:
        return this.take(4).readFloatBE();
      case 0xcb:
        return this.take(8).readDoubleBE();
      case 0xcc:
        return this.take(1).readUInt8();
      case 0xcd:
        return this.take(2).readUInt16BE();
      case 0xce:
        return this.take(4).readUInt32BE();
      case 0xcf:
        return Number(this.take(8).readBigUInt64BE());
      default:
        throw unexpected(tag);
    }
  }

  private take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.body.length)
      throw new RangeError(`body ends at ${this.body.length}; a part ends at ${end}`);
    const part = this.body.subarray(this.at, end);
    this.at = end;
    return part;
  }
}

function unexpected(tag: number): RangeError {
  return new RangeError(`MessagePack tag 0x${tag.toString(16)} is not expected here`);
}
