import * as tf from '../../tensorflow.js';
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import { copyBlocks, fillOneHot, gatherBlocks, multiplyPairs, sumBlocks, transpose } from './memory-loops.js';

/** The kernel of `multiplyPairs`, with inputs `x` and `factors` and the attribute `conjugate`. */
export const MULTIPLY_PAIRS_KERNEL = 'RetraceMultiplyPairs';

type Attributes = Readonly<Record<string, unknown>>;
type Inputs = Readonly<Record<string, tf.TensorInfo>>;
type Kernel = (
  inputs: Inputs,
  attributes: Attributes,
  backend: BackendWasm,
) => tf.TensorInfo | tf.TensorInfo[];
/** Whether the kernel handles this call; the package's own kernel handles the others. */
type Accepts = (inputs: Inputs, attributes: Attributes) => boolean;

/**
 * Registers kernels that `@tensorflow/tfjs-backend-wasm` 4.22 lacks, or implements wrongly or slowly:
 * `UnsortedSegmentSum` is missing; `OneHot` writes integers into float tensors; `GatherV2` and `SplitV` take 20 to 30
 * times, and `Transpose` of a matrix 4 times, as long as a loop in JavaScript, which reads and writes the same memory
 * without a copy. `RetraceMultiplyPairs` (`ops/layers/rotate-pairs.ts`) replaces a chain of splits and products.
 */
export function registerWasmKernels(): void {
  if (tf.getKernel('UnsortedSegmentSum', 'wasm') !== undefined) return;
  register('UnsortedSegmentSum', unsortedSegmentSum);
  register(MULTIPLY_PAIRS_KERNEL, multiplyComplex);
  replace('OneHot', oneHot, () => true);
  replace('GatherV2', gatherRows, ({ x }, { axis, batchDims }) => axis === 0 && batchDims === 0 && isWide(x));
  replace('SplitV', split, ({ x }) => isWide(x));
  replace('Transpose', transposeMatrix, ({ x }, { perm }) => {
    const [first] = perm as number[];
    return x.shape.length === 2 && first === 1 && isWide(x);
  });
}

function register(kernelName: string, kernel: Kernel): void {
  tf.registerKernel({
    kernelName,
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs, backend }) =>
      kernel(inputs as Inputs, attrs as unknown as Attributes, backend as BackendWasm),
  });
}

function replace(kernelName: string, kernel: Kernel, accepts: Accepts): void {
  const original = tf.getKernel(kernelName, 'wasm');
  tf.unregisterKernel(kernelName, 'wasm');
  tf.registerKernel({
    ...original,
    kernelFunc: (call) => {
      const inputs = call.inputs as Inputs;
      const attributes = call.attrs as unknown as Attributes;
      if (!accepts(inputs, attributes)) return original.kernelFunc(call);
      return kernel(inputs, attributes, call.backend as BackendWasm);
    },
  });
}

/** Whether elements have four bytes, which the loops require. */
function isWide({ dtype }: tf.TensorInfo): boolean {
  return dtype === 'float32' || dtype === 'int32';
}

const unsortedSegmentSum: Kernel = ({ x, segmentIds }, { numSegments }, backend) => {
  const [numRows, ...rowShape] = x.shape;
  const sums = backend.makeOutput([numSegments as number, ...rowShape], x.dtype);
  sumBlocks(view(backend, x), view(backend, segmentIds), view(backend, sums), {
    numBlocks: numRows,
    blockSize: tf.util.sizeFromShape(rowShape),
    numSums: numSegments as number,
  });
  return sums;
};

const multiplyComplex: Kernel = ({ x, factors }, { conjugate }, backend) => {
  const product = backend.makeOutput(x.shape, x.dtype);
  multiplyPairs(view(backend, x), view(backend, factors), view(backend, product), conjugate as boolean);
  return product;
};

const oneHot: Kernel = ({ indices }, { dtype, depth, onValue, offValue }, backend) => {
  const output = backend.makeOutput([...indices.shape, depth as number], dtype as tf.DataType);
  fillOneHot(view(backend, indices), view(backend, output), {
    depth: depth as number,
    onValue: onValue as number,
    offValue: offValue as number,
  });
  return output;
};

const gatherRows: Kernel = ({ x, indices }, _attributes, backend) => {
  const [numRows, ...rowShape] = x.shape;
  const output = backend.makeOutput([...indices.shape, ...rowShape], x.dtype);
  gatherBlocks(view(backend, x), view(backend, indices), view(backend, output), {
    numBlocks: numRows,
    blockSize: tf.util.sizeFromShape(rowShape),
  });
  return output;
};

const split: Kernel = ({ x }, { axis, numOrSizeSplits }, backend) => {
  const [along] = tf.util.parseAxisParam(axis as number, x.shape);
  const sizes = tf.backend_util.prepareSplitSize(x as tf.Tensor, numOrSizeSplits as number | number[], along);
  const numBlocks = tf.util.sizeFromShape(x.shape.slice(0, along));
  const innerSize = tf.util.sizeFromShape(x.shape.slice(along + 1));
  const parts = sizes.map((size) => {
    const shape = x.shape.map((length, dimension) => (dimension === along ? size : length));
    return backend.makeOutput(shape, x.dtype);
  });
  // Allocating an output may move the memory, so views are created afterwards.
  const source = view(backend, x);
  let offset = 0;
  parts.forEach((part, index) => {
    const blockSize = sizes[index] * innerSize;
    copyBlocks(source, view(backend, part), {
      numBlocks,
      blockSize,
      offset,
      stride: x.shape[along] * innerSize,
    });
    offset += blockSize;
  });
  return parts;
};

const transposeMatrix: Kernel = ({ x }, _attributes, backend) => {
  const [numRows, numColumns] = x.shape;
  const output = backend.makeOutput([numColumns, numRows], x.dtype);
  transpose(view(backend, x), view(backend, output), numRows, numColumns);
  return output;
};

function view(backend: BackendWasm, tensor: tf.TensorInfo): Float32Array | Int32Array {
  return backend.typedArrayFromHeap(tensor) as Float32Array | Int32Array;
}
