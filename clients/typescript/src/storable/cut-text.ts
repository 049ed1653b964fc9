const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Longer texts are encoded to be counted, which is faster than character by character. */
const SHORT_TEXT = 1_000;

/** Size of a well-formed text in UTF-8. */
export function utf8Bytes(text: string): number {
  if (text.length > SHORT_TEXT) return encoder.encode(text).length;
  let numBytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A surrogate pair is two units and four bytes.
    if (unit > 0x7f) numBytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return numBytes;
}

/** Cuts the middle out of a text, so that at most `maxBytes` of UTF-8 are left, in which it says how long it was. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const note = `[… ${bytes.length} bytes, cut …]`;
  const half = Math.max(0, Math.floor((maxBytes - encoder.encode(note).length) / 2));
  let head = half;
  let tail = bytes.length - half;
  while (isInside(bytes, head)) head--;
  while (isInside(bytes, tail)) tail++;
  return `${decoder.decode(bytes.subarray(0, head))}${note}${decoder.decode(bytes.subarray(tail))}`;
}

/** Whether a position is inside a character. */
function isInside(bytes: Uint8Array, at: number): boolean {
  return at < bytes.length && (bytes[at] & 0xc0) === 0x80;
}
