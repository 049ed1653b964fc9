import * as tf from '@tensorflow/tfjs-core';

/** Tensors that live in this process: constant between updates, or something leaks. */
export function countTensors(): number {
  return tf.memory().numTensors;
}
