/** Loops over flat memory with elements of one type. A block is `blockSize` consecutive elements. */

type Elements = Float32Array | Int32Array;

/** For blocks below this size, a loop is faster than `subarray` and `set`. */
const SHORT_BLOCK = 48;

/** Copies the block at `offset + b·stride` of the source to block b of the target. */
export function copyBlocks(
  source: Elements,
  target: Elements,
  {
    numBlocks,
    blockSize,
    offset,
    stride,
  }: { numBlocks: number; blockSize: number; offset: number; stride: number },
): void {
  for (let block = 0; block < numBlocks; block++) {
    copyBlock(source, offset + block * stride, target, block * blockSize, blockSize);
  }
}

/**
 * Copies block `ids[n]` of the source to block n of the target.
 *
 * @throws RangeError if an id is not in 0 … numBlocks − 1
 */
export function gatherBlocks(
  source: Elements,
  ids: Elements,
  target: Elements,
  { numBlocks, blockSize }: { numBlocks: number; blockSize: number },
): void {
  for (let n = 0; n < ids.length; n++) {
    const id = ids[n];
    if (!(id >= 0 && id < numBlocks)) throw new RangeError(`index ${id} is not in 0 … ${numBlocks - 1}`);
    copyBlock(source, id * blockSize, target, n * blockSize, blockSize);
  }
}

/** Sums the blocks n of the source with ids[n] = s into block s of the target. Ids outside the target are left out. */
export function sumBlocks(
  source: Elements,
  ids: Elements,
  target: Elements,
  { numBlocks, blockSize, numSums }: { numBlocks: number; blockSize: number; numSums: number },
): void {
  target.fill(0);
  for (let n = 0; n < numBlocks; n++) {
    const id = ids[n];
    if (!(id >= 0 && id < numSums)) continue;
    const from = n * blockSize;
    const to = id * blockSize;
    for (let i = 0; i < blockSize; i++) target[to + i] += source[from + i];
  }
}

/** Fills the target with `offValue`, and with `onValue` at position ids[n] of block n if that is in 0 … depth − 1. */
export function fillOneHot(
  ids: Elements,
  target: Elements,
  { depth, onValue, offValue }: { depth: number; onValue: number; offValue: number },
): void {
  target.fill(offValue);
  for (let n = 0; n < ids.length; n++) {
    if (ids[n] >= 0 && ids[n] < depth) target[n * depth + ids[n]] = onValue;
  }
}

/**
 * Multiplies neighbouring pairs as complex numbers by their factors, or by the factors' conjugates. Factors repeat from
 * their start when they end.
 */
export function multiplyPairs(
  source: Elements,
  factors: Elements,
  target: Elements,
  conjugate: boolean,
): void {
  const sign = conjugate ? -1 : 1;
  for (let start = 0; start < source.length; start += factors.length) {
    for (let i = 0; i < factors.length; i += 2) {
      const real = source[start + i];
      const imaginary = source[start + i + 1];
      const cosine = factors[i];
      const sine = sign * factors[i + 1];
      target[start + i] = real * cosine - imaginary * sine;
      target[start + i + 1] = real * sine + imaginary * cosine;
    }
  }
}

/** Transposes a matrix tile by tile, so that source and target stay in the processor's cache. */
export function transpose(source: Elements, target: Elements, numRows: number, numColumns: number): void {
  const tile = 32;
  for (let rowTile = 0; rowTile < numRows; rowTile += tile) {
    const lastRow = Math.min(rowTile + tile, numRows);
    for (let columnTile = 0; columnTile < numColumns; columnTile += tile) {
      const lastColumn = Math.min(columnTile + tile, numColumns);
      for (let column = columnTile; column < lastColumn; column++) {
        for (let row = rowTile; row < lastRow; row++) {
          target[column * numRows + row] = source[row * numColumns + column];
        }
      }
    }
  }
}

function copyBlock(source: Elements, from: number, target: Elements, to: number, blockSize: number): void {
  if (blockSize < SHORT_BLOCK) for (let i = 0; i < blockSize; i++) target[to + i] = source[from + i];
  else target.set(source.subarray(from, from + blockSize), to);
}
