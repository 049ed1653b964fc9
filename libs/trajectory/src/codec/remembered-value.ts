import { ContentBytes } from '../checksum/content-bytes.js';
import { messagePack } from './body/messagepack.js';

/**
 * A value that is mostly the same from record to record: decoded anew only where its bytes are others than the last ones.
 * One that breaks a rule is not remembered.
 */
export class RememberedValue<T> {
  /** JSON, when it was asked for. */
  private text: string | null = null;
  private source: Buffer = Buffer.alloc(0);
  private content: Uint8Array = Buffer.alloc(0);
  private known: { readonly value: T } | null = null;

  constructor(private readonly isValid: (value: unknown) => boolean) {}

  /** The value whose MessagePack lies there; false when it breaks its rule. */
  read(body: Buffer, start: number, end: number): boolean {
    if (this.known !== null && areSame(this.source, body, start, end)) return true;
    this.known = null;
    const value: unknown = messagePack.unpack(body.subarray(start, end));
    if (!this.isValid(value)) return false;
    const bytes = new ContentBytes();
    if (value !== null) bytes.value(value);
    this.source = Buffer.from(body.subarray(start, end));
    this.content = Uint8Array.from(bytes.written());
    this.text = null;
    this.known = { value: value as T };
    return true;
  }

  /** Of the last `read`, which found it valid. */
  get value(): T {
    if (this.known === null) throw new Error('no value was read');
    return this.known.value;
  }

  /** The value as `ContentBytes` has it; none where it is null. */
  get contentBytes(): Uint8Array {
    return this.content;
  }

  get json(): string {
    return (this.text ??= JSON.stringify(this.value));
  }
}

/** Text that is mostly the same from record to record. */
export class RememberedText {
  private source: Buffer = Buffer.alloc(0);
  value = '';

  read(body: Buffer, start: number, end: number): void {
    if (areSame(this.source, body, start, end)) return;
    this.source = Buffer.from(body.subarray(start, end));
    this.value = this.source.toString('utf8');
  }
}

/** Whether the bytes from `start` to `end` are these. */
export function areSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}
