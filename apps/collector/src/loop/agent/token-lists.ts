function totalLength(parts: readonly Int32Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

export function joinTokens(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(totalLength(parts));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Number of tokens at the beginning that two lists share. */
export function numEqual(a: Int32Array, b: Int32Array): number {
  const end = Math.min(a.length, b.length);
  let same = 0;
  while (same < end && a[same] === b[same]) same++;
  return same;
}
