import * as tf from '@tensorflow/tfjs-core';
import type { NodeJSKernelBackend } from '@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js';
import type { TFEOpAttr } from '@tensorflow/tfjs-node/dist/tfjs_binding.js';
import { ADDON_BACKEND } from '../../backend/node-addon.js';

/** An attribute of a TensorFlow op; types are given by their name in tfjs. */
export type RawAttributes = Readonly<
  Record<string, { readonly type: 'float32' | 'int32' | 'complex64' } | boolean | string>
>;

/**
 * Runs an op of TensorFlow by its own name, for those that tfjs has no kernel for: one output, no gradient. Inputs are
 * read, never written. To be called inside `withGradient`, and only where `runsTensorflow()`.
 */
export function rawOp(name: string, inputs: readonly tf.Tensor[], attributes: RawAttributes): tf.Tensor {
  const backend = tf.backend() as NodeJSKernelBackend;
  const attrs = Object.entries(attributes).map(([key, value]) => opAttribute(backend, key, value));
  return backend.executeSingleOutput(name, attrs, [...inputs]);
}

/** Whether tensors live in TensorFlow itself. */
export function runsTensorflow(): boolean {
  return tf.getBackend() === ADDON_BACKEND;
}

/** Whether tensors live in WebAssembly. */
export function runsWasm(): boolean {
  return tf.getBackend() === 'wasm';
}

function opAttribute(
  { binding }: NodeJSKernelBackend,
  name: string,
  value: RawAttributes[string],
): TFEOpAttr {
  if (typeof value === 'boolean') return { name, type: binding.TF_ATTR_BOOL, value };
  if (typeof value === 'string') return { name, type: binding.TF_ATTR_STRING, value };
  const types = { float32: binding.TF_FLOAT, int32: binding.TF_INT32, complex64: binding.TF_COMPLEX64 };
  return { name, type: binding.TF_ATTR_TYPE, value: types[value.type] };
}
