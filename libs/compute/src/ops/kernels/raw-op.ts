import * as tf from '../../tensorflow.js';
import type { NodeJSKernelBackend } from '@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js';
import type { TFEOpAttr } from '@tensorflow/tfjs-node/dist/tfjs_binding.js';
import { ADDON_BACKEND } from '../../backend/node-addon.js';

/** Attributes of a TensorFlow op; types have their tfjs names. */
export type RawAttributes = Readonly<
  Record<string, { readonly type: 'float32' | 'int32' | 'complex64' } | boolean | string>
>;

/**
 * Runs an op of TensorFlow that tfjs has no kernel for, by its name in TensorFlow. One output, no gradient; inputs are only
 * read. Call it inside `withGradient`, and only if `runsTensorflow()`.
 */
export function rawOp(name: string, inputs: readonly tf.Tensor[], attributes: RawAttributes): tf.Tensor {
  const backend = tf.backend() as NodeJSKernelBackend;
  const attrs = Object.entries(attributes).map(([key, value]) => opAttribute(backend, key, value));
  return backend.executeSingleOutput(name, attrs, [...inputs]);
}

/** Whether TensorFlow itself is the running backend. */
export function runsTensorflow(): boolean {
  return tf.getBackend() === ADDON_BACKEND;
}

/** Whether WebAssembly is the running backend. */
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
