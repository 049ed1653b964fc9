const UUID_BYTES = 16;
/** Random bytes are asked for by the block: a call for 16 costs as much as one for a thousand. */
const BLOCK_BYTES = 64 * UUID_BYTES;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const block = new Uint8Array(BLOCK_BYTES);
let usedBytes = BLOCK_BYTES;

/** Makes a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits. Ids of later milliseconds sort later. */
export function uuidV7(nowMs = Date.now()): string {
  if (usedBytes === BLOCK_BYTES) {
    crypto.getRandomValues(block);
    usedBytes = 0;
  }
  const at = usedBytes;
  usedBytes += UUID_BYTES;
  const time = Math.floor(nowMs).toString(16).padStart(12, '0');
  const hex = (from: number, to: number) => {
    let text = '';
    for (let i = at + from; i < at + to; i++) text += HEX[block[i]];
    return text;
  };
  const variant = HEX[0x80 | (block[at + 8] & 0x3f)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(6, 8).slice(1)}-${variant}${hex(9, 10)}-${hex(10, 16)}`;
}
