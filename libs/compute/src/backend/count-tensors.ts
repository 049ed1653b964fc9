import * as tf from '../tensorflow.js';

/** Counts the tensors of this process. The count is constant from update to update unless tensors leak. */
export function countTensors(): number {
  return tf.memory().numTensors;
}
