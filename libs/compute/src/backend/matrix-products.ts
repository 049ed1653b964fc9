import * as tf from '@tensorflow/tfjs-core';

/** How TensorFlow on a processor multiplies matrices, in the whole process. */
export interface MatrixProducts {
  /**
   * `bfloat16` rounds what is multiplied to bfloat16, where the processor has instructions for it (AVX512-BF16, AMX); sums,
   * weights and all that is kept stay float32. Default `float32`.
   */
  readonly matMulPrecision?: 'float32' | 'bfloat16';
  /** Elements of the largest weight matrix; absent: many. */
  readonly largestMatrix?: number;
}

/**
 * Up to here oneDNN's operations do not pay. They compile code for every new number of rows, half a millisecond each, and keep it: hundreds
 * of MiB where packs are ragged; Eigen's take one kernel for all. Measured on whole training loops: without them 1.35 times as fast at 64×176, 1.07 at 192×528 (101,376
 * elements), the same at 256×704 (180,224).
 */
const MOST_WITHOUT_ONE_DNN = 2 ** 17;

/** To be called before TensorFlow is loaded; what the user has set in the environment stays. */
export function configureProducts(
  { matMulPrecision, largestMatrix = Infinity }: MatrixProducts,
  environment: NodeJS.ProcessEnv = process.env,
): void {
  // oneDNN reads it once, when it multiplies for the first time.
  if (matMulPrecision === 'bfloat16') environment['TF_SET_ONEDNN_FPMATH_MODE'] = 'BF16';
  else if (largestMatrix <= MOST_WITHOUT_ONE_DNN) environment['TF_ENABLE_ONEDNN_OPTS'] ??= '0';
}

/**
 * Whether the backend that runs in this process multiplies matrices in float32: WebAssembly, plain JavaScript and TensorFlow on a
 * processor do, but for bfloat16 where that was asked for; on NVIDIA GPUs TensorFlow rounds what it multiplies to TF32.
 */
export function multipliesInFloat32(environment: NodeJS.ProcessEnv = process.env): boolean {
  // Only TensorFlow's own backend knows of devices.
  const { isUsingGpuDevice } = tf.backend() as { readonly isUsingGpuDevice?: boolean };
  if (isUsingGpuDevice === undefined) return true;
  return !isUsingGpuDevice && environment['TF_SET_ONEDNN_FPMATH_MODE'] !== 'BF16';
}
