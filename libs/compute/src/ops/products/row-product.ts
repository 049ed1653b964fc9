/**
 * Products of a few rows with weights, joined with the norm before and the residual after them; not differentiable.
 *
 * Legend: N rows · I inputs · O outputs.
 */
import * as tf from '../../tensorflow.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';
import { linear } from './linear.js';
import { rmsNorm } from '../layers/rms-norm.js';

export interface RowProductOptions {
  /** [O] */
  readonly bias?: tf.Tensor | null;
  /** [N, O], added to the product. */
  readonly residual?: tf.Tensor;
  /** [I] weight of a root-mean-square norm of the rows. */
  readonly norm?: tf.Tensor;
}

/** Up to this many rows the fused op is faster than TensorFlow's product, which first rearranges the matrix. */
const MAX_FUSED_ROWS = 32;

/** The products of one forward pass. Use it only inside the tidy that it is created in. */
export class RowProducts {
  private readonly none: tf.Tensor;
  private readonly epsilon: tf.Tensor;

  constructor(private readonly normEpsilon: number) {
    this.none = tf.tensor1d([]);
    this.epsilon = tf.scalar(normEpsilon);
  }

  /** residual + norm(x)·weightᵀ + bias for x [N, I] and weight [O, I]: [N, O]. */
  product(x_NI: tf.Tensor, weight_OI: tf.Tensor, options: RowProductOptions = {}): tf.Tensor {
    const { bias = null, residual, norm } = options;
    if (hasNativeOps() && x_NI.shape[0] <= MAX_FUSED_ROWS) {
      const { none, epsilon } = this;
      return nativeOp('RetraceLinear', [
        x_NI,
        weight_OI,
        bias ?? none,
        residual ?? none,
        norm ?? none,
        epsilon,
      ])[0];
    }
    const product = linear(norm === undefined ? x_NI : this.normed(x_NI, norm), weight_OI, bias);
    return residual === undefined ? product : tf.add(residual, product);
  }

  /** x/√(mean(x²) + ε) ⊙ weight, row by row. */
  normed(x_NI: tf.Tensor, weight_I: tf.Tensor): tf.Tensor {
    return tf.mul(rmsNorm(x_NI, this.normEpsilon), weight_I);
  }
}
