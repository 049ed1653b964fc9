import * as tf from '../../tensorflow.js';
import type { NodeJSKernelBackend } from '@tensorflow/tfjs-node/dist/nodejs_kernel_backend.js';
import { nativeOpsAreLoaded } from '../../backend/node-addon.js';
import { runsTensorflow } from './raw-op.js';

/** Retrace's own ops (`native/`) and their numbers of outputs. They run on processors, in float32. */
const NUM_OUTPUTS = {
  RetraceAdamW: 3,
  RetraceAttention: 1,
  RetraceAttentionGradient: 1,
  RetraceCachedAttention: 1,
  RetraceCopyCached: 1,
  RetraceLinear: 1,
  RetraceRmsNorm: 2,
  RetraceRmsNormGradient: 1,
  RetraceSample: 1,
  RetraceSwiGlu: 1,
  RetraceSwiGluGradient: 2,
  RetraceTokenDistribution: 1,
  RetraceTokenDistributionGradient: 1,
} as const;

let areEnabled = true;

/** Whether `nativeOp` can be called. */
export function hasNativeOps(): boolean {
  return areEnabled && nativeOpsAreLoaded() && runsTensorflow();
}

/** Switches the native ops on or off, so that tests and benchmarks can compare them with the composed forms. */
export function enableNativeOps(enabled: boolean): void {
  areEnabled = enabled;
}

/** Runs one of Retrace's own ops. Not differentiable: call it inside `withGradient`, and only if `hasNativeOps()`. */
export function nativeOp(name: keyof typeof NUM_OUTPUTS, inputs: readonly tf.Tensor[]): tf.Tensor[] {
  const backend = tf.backend() as NodeJSKernelBackend;
  return backend.executeMultipleOutputs(name, [], [...inputs], NUM_OUTPUTS[name]);
}
