import { ContentBytes } from '../checksum/content-bytes.js';
import { messagePack } from './body/messagepack.js';

/** Used synchronously, so one buffer is shared. */
const contentBytes = new ContentBytes();

/**
 * Decodes a value that is mostly the same from record to record; it is decoded again only when its bytes differ from the last ones.
 * A value that breaks a rule is not remembered.
 */
export class RememberedValue<T> {
  /** JSON of the value, once `json` was read. */
  private text: string | null = null;
  private source: Buffer = Buffer.alloc(0);
  private content: Uint8Array = Buffer.alloc(0);
  private known: { readonly value: T } | null = null;

  constructor(private readonly isValid: (value: unknown) => boolean) {}

  /** Reads the value in MessagePack from `start` to `end`; false when it breaks its rule. */
  read(body: Buffer, start: number, end: number): boolean {
    if (this.known !== null && areSame(this.source, body, start, end)) return true;
    this.known = null;
    const value: unknown = messagePack.unpack(body.subarray(start, end));
    if (!this.isValid(value)) return false;
    contentBytes.clear();
    if (value !== null) contentBytes.value(value);
    this.source = Buffer.from(body.subarray(start, end));
    this.content = new Uint8Array(contentBytes.written());
    this.text = null;
    this.known = { value: value as T };
    return true;
  }

  /** The value of the last `read`, which must have returned true. */
  get value(): T {
    if (this.known === null) throw new Error('no value was read');
    return this.known.value;
  }

  /** The value in the encoding of `ContentBytes`; empty for null. */
  get contentBytes(): Uint8Array {
    return this.content;
  }

  get json(): string {
    return (this.text ??= JSON.stringify(this.value));
  }
}

/** Decodes a text that is mostly the same from record to record. */
export class RememberedText {
  private source: Buffer = Buffer.alloc(0);
  value = '';

  read(body: Buffer, start: number, end: number): void {
    if (areSame(this.source, body, start, end)) return;
    this.source = Buffer.from(body.subarray(start, end));
    this.value = this.source.toString('utf8');
  }
}

/** Whether the bytes from `start` to `end` equal `known`. */
export function areSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}
