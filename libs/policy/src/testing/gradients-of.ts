import type { LossOptions } from '../losses/loss-options.js';
import type { TrainingBatch } from '../losses/training-batch.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import type { Transformer } from '../model/transformer.js';
import { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { optimizerState } from './optimizer-state.js';

/** The gradient of the batch's loss by parameter name: the first moment of an optimizer that has no memory. */
export async function computeGradients(
  model: Transformer,
  batch: TrainingBatch,
  options: LossOptions,
): Promise<NamedTensors> {
  const optimizer = new PolicyOptimizer(model, { beta1: 0, beta2: 0, epsilon: 1, weightDecay: 0 });
  await optimizer.accumulate(batch, options);
  await optimizer.apply({ learningRate: 0, maxGradientNorm: Infinity });
  const { firstMoments } = await optimizerState(optimizer);
  optimizer.dispose();
  return firstMoments;
}
