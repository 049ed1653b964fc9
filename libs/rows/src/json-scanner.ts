/** Where a value ends, or why it can't be JSON. */
export type Scanned =
  | { readonly kind: 'end' | 'more'; readonly position: number }
  | {
      readonly kind: 'fault';
      readonly position: number;
      readonly code: 'NOT_JSON' | 'TOO_DEEP';
      readonly detail: string;
    };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Bytes that may be outside a text: white space, structure, numbers, and the letters of true, false, null, NaN and Infinity. */
const ALLOWED_OUTSIDE = allowedBytes(' \t\r\n{}[],:"0123456789+-.eEtrufalsnNIiy');

/**
 * Finds the end of a JSON object or list without parsing it, and most faults at once: a byte that can't be outside a text, a line break
 * in a text, a bracket that closes another kind, a value where a key must be. Keeps its state between calls.
 */
export class JsonScanner {
  private readonly kinds: Uint8Array;
  private depth = 0;
  private inText = false;
  private isEscaped = false;
  /** Last byte outside texts that was not white space. */
  private previous = 0;

  constructor(maxDepth: number) {
    this.kinds = new Uint8Array(maxDepth);
  }

  reset(): void {
    this.depth = 0;
    this.inText = false;
    this.isEscaped = false;
    this.previous = 0;
  }

  /** Scans on from `start`; `end` gives the place after the value's last byte. */
  scan(bytes: Buffer, start: number): Scanned {
    for (let at = start; at < bytes.length; at++) {
      if (this.inText) {
        at = this.scanText(bytes, at);
        if (at === bytes.length) break;
        if (at === -1) return notJson(start, 'a control character in a text');
        continue;
      }
      const byte = bytes[at];
      if (ALLOWED_OUTSIDE[byte] === 0) {
        return notJson(at, `unexpected byte 0x${byte.toString(16).padStart(2, '0')} outside a text`);
      }
      if (byte <= 0x20) continue;
      const fault = this.structure(byte);
      if (fault === 'depth')
        return { kind: 'fault', position: at, code: 'TOO_DEEP', detail: 'nested too deeply' };
      if (fault !== null) return notJson(at, fault);
      if (this.depth === 0) return { kind: 'end', position: at + 1 };
    }
    return { kind: 'more', position: bytes.length };
  }

  /** Goes to the end of the text that `at` is in; −1 at a byte that no text may have. */
  private scanText(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.isEscaped) this.isEscaped = false;
      else if (byte === BACKSLASH) this.isEscaped = true;
      else if (byte === QUOTE) {
        this.inText = false;
        this.previous = QUOTE;
        return at;
      } else if (byte < 0x20) return -1;
    }
    return bytes.length;
  }

  /** Takes a byte of structure, or of a number or word; returns what is wrong with it. */
  private structure(byte: number): string | null {
    const container = this.depth === 0 ? 0 : this.kinds[this.depth - 1];
    switch (byte) {
      case QUOTE:
        if (this.previous === QUOTE) return 'two texts without a comma between them';
        this.inText = true;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT: {
        const mayBegin =
          this.depth === 0 ||
          this.previous === COLON ||
          (container === OPEN_LIST && (this.previous === OPEN_LIST || this.previous === COMMA));
        if (!mayBegin) return 'a value where none can be';
        if (this.depth === this.kinds.length) return 'depth';
        this.kinds[this.depth++] = byte;
        break;
      }
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (container !== (byte === CLOSE_LIST ? OPEN_LIST : OPEN_OBJECT)) {
          return 'a bracket that closes nothing';
        }
        this.depth--;
        break;
      default:
    }
    this.previous = byte;
    return null;
  }
}

function notJson(position: number, detail: string): Scanned {
  return { kind: 'fault', position, code: 'NOT_JSON', detail };
}

function allowedBytes(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) table[byte] = 1;
  return table;
}
