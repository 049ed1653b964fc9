import { checkFinite, checkLength, checkOffsets, type NumericArray } from './check.js';

/*
 * Ragged rows are one flat array plus shared offsets: row s = [offsets[s], offsets[s + 1]). Rows may be empty.
 * Float32 in storage, doubles in sums.
 */

/** Repeats one value per row over the entries of the row. `perRow [S]`, `offsets [S + 1]` → `[N]`. */
export function broadcastRows(perRow: NumericArray, offsets: Int32Array): Float32Array {
  checkLength('perRow', perRow, offsets.length - 1);
  const flat = new Float32Array(offsets[offsets.length - 1]);
  for (let row = 0; row < perRow.length; row++) {
    const value = perRow[row];
    const end = offsets[row + 1];
    // `fill` takes longer to call than a short row takes to write.
    if (end - offsets[row] > 64) flat.fill(value, offsets[row], end);
    else for (let i = offsets[row]; i < end; i++) flat[i] = value;
  }
  return flat;
}

/** Sum of each row. `values [N]`, `offsets [S + 1]` → `[S]`; an empty row sums to 0. */
export function rowSums(values: NumericArray, offsets: Int32Array): Float64Array {
  checkOffsets('offsets', offsets, values.length);
  const sums = new Float64Array(offsets.length - 1);
  for (let row = 0; row < sums.length; row++) {
    const sum = sumBetween(values, offsets[row], offsets[row + 1]);
    if (!Number.isFinite(sum)) checkFinite('values', values);
    sums[row] = sum;
  }
  return sums;
}

/** Four sums side by side: one alone waits for each addition to finish before the next. */
function sumBetween(values: NumericArray, start: number, end: number): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  let i = start;
  for (; i + 3 < end; i += 4) {
    first += values[i];
    second += values[i + 1];
    third += values[i + 2];
    fourth += values[i + 3];
  }
  for (; i < end; i++) first += values[i];
  return first + second + (third + fourth);
}

/** Lengths of the rows. `offsets [S + 1]` → `[S]`. */
export function rowLengths(offsets: Int32Array): Int32Array {
  return Int32Array.from({ length: offsets.length - 1 }, (_, row) => offsets[row + 1] - offsets[row]);
}

/** Offsets of rows with these lengths: `[S]` → `[S + 1]`. */
export function offsetsOf(lengths: ArrayLike<number>): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  for (let row = 0; row < lengths.length; row++) offsets[row + 1] = offsets[row] + lengths[row];
  return offsets;
}
