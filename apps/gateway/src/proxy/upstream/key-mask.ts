import { Transform } from 'node:stream';

/** A shorter text is nobody's secret, and may be a word of an answer. */
const MIN_KEY_CHARACTERS = 8;

/**
 * Replaces a key in bytes that come in parts by as many asterisks, so that neither the length of an answer nor its JSON changes. Bytes
 * wait only where a part ends like the key begins.
 */
export class KeyMask {
  private held: Buffer = Buffer.alloc(0);

  private constructor(private readonly key: Buffer) {}

  /** @returns null where there is no key to hide */
  static of(key: string | null): KeyMask | null {
    return key === null || key.length < MIN_KEY_CHARACTERS ? null : new KeyMask(Buffer.from(key));
  }

  /** @returns the bytes that can be passed on: the last of them may wait for the next part */
  mask(part: Buffer): Buffer {
    const bytes = this.held.length > 0 ? Buffer.concat([this.held, part]) : part;
    for (let at = bytes.indexOf(this.key); at >= 0; at = bytes.indexOf(this.key, at)) {
      bytes.fill('*', at, at + this.key.length);
    }
    const end = bytes.length - this.numBegun(bytes);
    this.held = bytes.subarray(end);
    return bytes.subarray(0, end);
  }

  /** @returns the bytes that waited for a part that never came */
  rest(): Buffer {
    const { held } = this;
    this.held = Buffer.alloc(0);
    return held;
  }

  /** The same for a whole answer on its way. */
  stream(): Transform {
    return new Transform({
      transform: (part: Buffer, _, done) => {
        done(null, this.mask(part));
      },
      flush: (done) => {
        done(null, this.rest());
      },
    });
  }

  /** Number of bytes at the end with which a key may begin. */
  private numBegun(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.key.length + 1);
    for (let at = bytes.indexOf(this.key[0], from); at >= 0; at = bytes.indexOf(this.key[0], at + 1)) {
      if (this.key.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return bytes.length - at;
    }
    return 0;
  }
}

/** A text without any of these keys, as it may be stored. */
export function withoutKeys(text: string, keys: readonly string[]): string {
  const secrets = keys.filter(({ length }) => length >= MIN_KEY_CHARACTERS);
  return secrets.reduce((masked, key) => masked.replaceAll(key, '*'.repeat(key.length)), text);
}
