/**
 * The loss as a node of the gradient tape.
 *
 * Legend: M trained tokens.
 */
import * as tf from '@retrace/compute/tensorflow';
import { withGradient } from '@retrace/compute';
import { distributionGradients, distributionColumns } from './chunked-loss.js';
import type { EvaluatedLoss, TokenColumns } from './evaluate-loss.js';

export interface LossNodeInput {
  /** [2 + k, M] log π and entropy of the tokens, and log π of the chosen ids (`tokenDistribution`). */
  readonly distribution: tf.Tensor;
  /** [M]; null where the loss has no value term. */
  readonly values: tf.Tensor | null;
  /** [M] the model's outputs from an earlier pass, if the backend can't be read during this one. */
  readonly known?: TokenColumns | null;
}

/**
 * Makes a scalar loss that may depend on several of its M tokens together, such as those of a sequence. `chunkedLoss` is cheaper for other losses.
 *
 * The loss itself is arithmetic on a few numbers per token, so it is computed in host memory by the losses of `@retrace/algorithms`, which have
 * gradients: one small readback, one upload.
 */
export function lossNode(
  { distribution, values, known }: LossNodeInput,
  evaluate: (outputs: TokenColumns) => EvaluatedLoss,
): tf.Scalar {
  const inputs = values === null ? [distribution] : [distribution, values];
  const forward = () => {
    const evaluated = evaluate(known ?? readColumns(distribution, values));
    const { sums, gradients } = evaluated;
    const saved: tf.Tensor[] = [distributionGradients(evaluated)];
    if (gradients.values !== null) saved.push(tf.tensor1d(gradients.values));
    return { value: tf.scalar(sums.loss), saved };
  };
  return withGradient(inputs, forward, (dy, gradients) =>
    gradients.map((gradient) => tf.mul(gradient, dy)),
  ) as tf.Scalar;
}

function readColumns(distribution: tf.Tensor, values: tf.Tensor | null): TokenColumns {
  const [, numTokens] = distribution.shape;
  if (values === null)
    return { ...distributionColumns(distribution.dataSync() as Float32Array, numTokens), values };
  const rows = tf.concat<tf.Tensor>([tf.expandDims(values, 0), distribution]);
  const read = rows.dataSync() as Float32Array;
  return {
    ...distributionColumns(read.subarray(numTokens), numTokens),
    values: read.slice(0, numTokens),
  };
}
