/** Up to so many bytes are copied one by one, which is faster than creating a view. */
const SHORT = 48;

/** Copies the bytes of `source` from `start` to `end` into `target` at position `at`. */
export function copyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): void {
  if (end - start > SHORT) target.set(source.subarray(start, end), at);
  else for (let i = start, to = at; i < end; i++) target[to++] = source[i];
}
