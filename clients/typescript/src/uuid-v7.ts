/** Makes a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits. Ids of later milliseconds sort later. */
export function uuidV7(nowMs = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint16(0, Math.floor(nowMs / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, nowMs % 2 ** 32);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
