interface FlatArray extends ArrayLike<number> {
  set(values: ArrayLike<number>, offset: number): void;
}

/** Copies parts, one after the other, into one array. */
export function concat<A extends FlatArray>(arrayType: new (length: number) => A, parts: readonly A[]): A {
  const whole = new arrayType(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Joins offsets: each part starts at 0 and ends where the next one continues. */
export function concatOffsets(parts: readonly Int32Array[]): Int32Array {
  const numRows = parts.reduce((sum, part) => sum + part.length - 1, 0);
  const whole = new Int32Array(numRows + 1);
  let row = 0;
  for (const part of parts) {
    const base = whole[row];
    for (let i = 1; i < part.length; i++) whole[row + i] = base + part[i];
    row += part.length - 1;
  }
  return whole;
}
