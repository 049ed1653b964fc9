import * as tf from '@tensorflow/tfjs-core';

interface MemoryBackend {
  readSync(dataId: object): Float32Array | Int32Array;
  write(values: Float32Array, shape: number[], dtype: tf.DataType): object;
}

/**
 * Gives the WebAssembly backend the kernel it lacks that the gradient of a lookup needs: row s of the result is the
 * sum of the rows n of x with segmentIds[n] = s. Negative ids are left out, as in TensorFlow.
 */
export function registerMissingWasmKernels(): void {
  if (tf.getKernel('UnsortedSegmentSum', 'wasm') !== undefined) return;
  tf.registerKernel({
    kernelName: 'UnsortedSegmentSum',
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs, backend }) => {
      const memory = backend as MemoryBackend;
      const { x, segmentIds } = inputs as { readonly x: tf.TensorInfo; readonly segmentIds: tf.TensorInfo };
      const { numSegments } = attrs as unknown as tf.UnsortedSegmentSumAttrs;
      const [numRows, ...rowShape] = x.shape;
      const rowSize = rowShape.reduce((product, size) => product * size, 1);
      const sums = addRows(memory.readSync(x.dataId), memory.readSync(segmentIds.dataId), {
        numRows,
        rowSize,
        numSegments,
      });
      const shape = [numSegments, ...rowShape];
      return { dataId: memory.write(sums, shape, x.dtype), shape, dtype: x.dtype };
    },
  });
}

function addRows(
  values: Float32Array | Int32Array,
  segmentIds: Float32Array | Int32Array,
  { numRows, rowSize, numSegments }: { numRows: number; rowSize: number; numSegments: number },
): Float32Array {
  const sums = new Float32Array(numSegments * rowSize);
  for (let row = 0; row < numRows; row++) {
    const segment = segmentIds[row];
    if (segment < 0 || segment >= numSegments) continue;
    for (let column = 0; column < rowSize; column++) {
      sums[segment * rowSize + column] += values[row * rowSize + column];
    }
  }
  return sums;
}
