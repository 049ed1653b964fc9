/**
 * A 32-bit seed derived from parts: FNV-1a over their text, then the finaliser of MurmurHash3, so that
 * neighbouring parts (index 7, index 8) give unrelated seeds. Deterministic; not cryptographic.
 */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  return hashText(parts.join('\u0000'));
}

/** 32-bit hash of a text (UTF-16 code units, low byte then high byte). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
