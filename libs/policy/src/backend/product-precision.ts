import * as tf from '@tensorflow/tfjs-core';

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
