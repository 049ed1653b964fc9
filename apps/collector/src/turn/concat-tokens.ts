export function concatTokens(...parts: readonly Int32Array[]): Int32Array<ArrayBuffer> {
  const tokens = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    tokens.set(part, at);
    at += part.length;
  }
  return tokens;
}
