import * as tf from '../../tensorflow.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';

/** Tensors of one shape. */
export interface AdamWTensors {
  readonly weight: tf.Tensor;
  /** First and second moment of the gradient. */
  readonly first: tf.Tensor;
  readonly second: tf.Tensor;
}

export interface AdamWSettings {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly learningRate: number;
  readonly weightDecay: number;
  /** Factor on the gradient (clipping). */
  readonly gradientScale: number;
  /** The number of this step, from 1 on. */
  readonly step: number;
}

/**
 * One step of AdamW (arXiv:1711.05101, algorithm 2) with bias correction, for g = gradientScale·gradient:
 * m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η(m̂/(√v̂ + ε) + λθ). Returns new tensors.
 */
export function adamWStep(
  { weight, first, second }: AdamWTensors,
  gradient: tf.Tensor,
  { beta1, beta2, epsilon, learningRate, weightDecay, gradientScale, step }: AdamWSettings,
): AdamWTensors {
  const stepSize = learningRate / (1 - beta1 ** step);
  const weightScale = 1 - learningRate * weightDecay;
  if (hasNativeOps()) {
    const correction = 1 / (1 - beta2 ** step);
    const settings = [beta1, beta2, epsilon, gradientScale, stepSize, correction, weightScale];
    const tensors = [weight, first, second, gradient, tf.tensor1d(settings)];
    const [newWeight, newFirst, newSecond] = nativeOp('RetraceAdamW', tensors);
    return { weight: newWeight, first: newFirst, second: newSecond };
  }
  const m = tf.add(tf.mul(first, beta1), tf.mul(gradient, gradientScale * (1 - beta1)));
  const v = tf.add(tf.mul(second, beta2), tf.mul(tf.square(gradient), gradientScale ** 2 * (1 - beta2)));
  const denominator = tf.add(tf.sqrt(tf.div(v, 1 - beta2 ** step)), epsilon);
  const move = tf.div(tf.mul(m, stepSize), denominator);
  const decayed = weightDecay > 0 ? tf.mul(weight, weightScale) : weight;
  return { weight: tf.sub(decayed, move), first: m, second: v };
}
