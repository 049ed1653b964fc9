/**
 * The loss as a node of the gradient tape.
 *
 * Legend: M trained tokens.
 */
import * as tf from '@retrace/compute/tensorflow';
import { withGradient } from '@retrace/compute';
import { columnGradients } from './chunked-loss.js';
import type { EvaluatedLoss, TokenColumns } from './evaluate-loss.js';

export interface LossNodeInput {
  /** [2, M] log π and entropy of the tokens. */
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
    const saved: tf.Tensor[] = [tf.tensor2d(columnGradients(evaluated), [2, gradients.logprobs.length])];
    if (gradients.values !== null) saved.push(tf.tensor1d(gradients.values));
    return { value: tf.scalar(sums.loss), saved };
  };
  return withGradient(inputs, forward, (dy, gradients) =>
    gradients.map((gradient) => tf.mul(gradient, dy)),
  ) as tf.Scalar;
}

function readColumns(distribution: tf.Tensor, values: tf.Tensor | null): TokenColumns {
  const rows =
    values === null ? distribution : tf.concat<tf.Tensor>([distribution, tf.expandDims(values, 0)]);
  const read = rows.dataSync() as Float32Array;
  const numTokens = distribution.size / 2;
  const row = (index: number) => read.slice(index * numTokens, (index + 1) * numTokens);
  return { logprobs: row(0), entropies: row(1), values: values === null ? null : row(2) };
}
