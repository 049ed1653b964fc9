const HYPHEN = 0x2d;
const TEXT_LENGTH = 36;
const NUM_BYTES = 16;

/** Position in the text of the first digit of each byte. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const HYPHENS_AT = [8, 13, 18, 23] as const;

/** Value of a lower-case hexadecimal digit by its character code; −1 for anything else. */
const HEX_VALUES = new Int8Array(128).fill(-1);
const HEX_DIGITS = Buffer.from('0123456789abcdef', 'latin1');
HEX_DIGITS.forEach((code, value) => (HEX_VALUES[code] = value));

const scratch = Buffer.alloc(TEXT_LENGTH, '-', 'latin1');

/** Whether `text` is a UUID in the only form that events carry: 36 characters, lower case. */
export function isUuid(text: string): boolean {
  if (text.length !== TEXT_LENGTH) return false;
  for (const at of HYPHENS_AT) if (text.charCodeAt(at) !== HYPHEN) return false;
  for (const at of DIGITS_AT) {
    if (!isDigit(text.charCodeAt(at)) || !isDigit(text.charCodeAt(at + 1))) return false;
  }
  return true;
}

export function uuidToBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Writes the 16 bytes of a valid UUID at position `at`. */
export function writeUuid(target: Uint8Array, at: number, uuid: string): void {
  for (let i = 0; i < NUM_BYTES; i += 1) {
    const digits = DIGITS_AT[i];
    target[at + i] = (HEX_VALUES[uuid.charCodeAt(digits)] << 4) | HEX_VALUES[uuid.charCodeAt(digits + 1)];
  }
}

/** Formats 16 bytes as a lower-case UUID. */
export function uuidFromBytes(bytes: Uint8Array): string {
  for (let i = 0; i < NUM_BYTES; i += 1) {
    scratch[DIGITS_AT[i]] = HEX_DIGITS[bytes[i] >> 4];
    scratch[DIGITS_AT[i] + 1] = HEX_DIGITS[bytes[i] & 0xf];
  }
  return scratch.toString('latin1');
}

function isDigit(code: number): boolean {
  return code < 128 && HEX_VALUES[code] >= 0;
}
