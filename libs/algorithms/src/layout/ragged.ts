import { requireOutput } from './output.js';
import { checkFinite, checkLength, checkOffsets, type NumericArray } from './check.js';

/*
 * Ragged rows are one flat array plus shared offsets: row s = [offsets[s], offsets[s + 1]). Rows may be empty.
 * Float32 in storage, doubles in sums.
 */

/**
 * Repeats one value per row over the entries of the row. `perRow [S]`, `offsets [S + 1]` → `[N]`, into `output` where one is given.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for offsets that fall or do not start at 0, a row without a value
 */
export function broadcastRows(
  perRow: NumericArray,
  offsets: Int32Array,
  output: Float32Array | null = null,
): Float32Array {
  checkOffsets('offsets', offsets, offsets[offsets.length - 1]);
  checkLength({ perRow }, offsets.length - 1);
  const flat = requireOutput('advantages', output, offsets[offsets.length - 1]);
  for (let row = 0; row < perRow.length; row++) {
    const value = perRow[row];
    const end = offsets[row + 1];
    let i = offsets[row];
    // `fill` takes longer to call than a short row takes to write.
    if (end - i > 64) {
      flat.fill(value, i, end);
      continue;
    }
    for (; i + 3 < end; i += 4) {
      flat[i] = value;
      flat[i + 1] = value;
      flat[i + 2] = value;
      flat[i + 3] = value;
    }
    for (; i < end; i++) flat[i] = value;
  }
  return flat;
}

/**
 * Sum of each row. `values [N]`, `offsets [S + 1]` → `[S]`; an empty row sums to 0.
 *
 * @param options `name`: name of the values in the error about one that is not finite
 */
export function rowSums(
  values: NumericArray,
  offsets: Int32Array,
  { name = 'values' }: { readonly name?: string } = {},
): Float64Array {
  checkOffsets('offsets', offsets, values.length);
  const sums = new Float64Array(offsets.length - 1);
  if (values instanceof Float32Array && values.byteOffset % 8 === 0 && looksSparse(values)) {
    addSparse(values, offsets, sums);
  } else {
    for (let row = 0; row < sums.length; row++) {
      sums[row] = sumBetween(values, offsets[row], offsets[row + 1]);
    }
  }
  let total = 0;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let row = 0; row < sums.length; row++) total += sums[row];
  if (!Number.isFinite(total)) checkFinite({ [name]: values });
  return sums;
}

const NUM_SAMPLES = 64;
const MAX_NONZERO_SAMPLES = 4;

/** Whether nearly all values seem to be 0, as those of rewards at the ends of episodes are. */
function looksSparse(values: Float32Array): boolean {
  if (values.length < 16 * NUM_SAMPLES) return false;
  const stride = Math.floor(values.length / NUM_SAMPLES);
  let numNonzero = 0;
  for (let i = 0; i < values.length; i += stride) numNonzero += Number(values[i] !== 0);
  return numNonzero <= MAX_NONZERO_SAMPLES;
}

/** Adds the values to the sums of their rows; 16 zeros in a row are passed over at the price of eight loads. */
function addSparse(values: Float32Array, offsets: Int32Array, sums: Float64Array): void {
  // Read as one float64, two float32 values are 0 only where both are 0; absolute values can't cancel.
  const pairs = new Float64Array(values.buffer, values.byteOffset, values.length >> 1);
  let row = 0;
  const addBetween = (start: number, end: number): void => {
    for (let i = start; i < end;) {
      while (offsets[row + 1] <= i) row += 1;
      const stop = Math.min(offsets[row + 1], end);
      sums[row] += sumBetween(values, i, stop);
      i = stop;
    }
  };
  let p = 0;
  for (; p + 7 < pairs.length; p += 8) {
    const first = Math.abs(pairs[p]) + Math.abs(pairs[p + 1]);
    const second = Math.abs(pairs[p + 2]) + Math.abs(pairs[p + 3]);
    const third = Math.abs(pairs[p + 4]) + Math.abs(pairs[p + 5]);
    const fourth = Math.abs(pairs[p + 6]) + Math.abs(pairs[p + 7]);
    if (first + second + (third + fourth) !== 0) addBetween(2 * p, 2 * p + 16);
  }
  addBetween(2 * p, values.length);
}

/** Keeps four sums, since a single one would wait for each addition to finish before the next. */
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
export function toOffsets(lengths: ArrayLike<number>): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  for (let row = 0; row < lengths.length; row++) offsets[row + 1] = offsets[row] + lengths[row];
  return offsets;
}
