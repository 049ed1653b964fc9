import * as tf from '@retrace/compute/tensorflow';
import { hiddenAtReads } from '../model/forward.js';
import type { DevicePack, ForwardOptions } from '../model/forward.js';
import { VALUE_HEAD_KEY } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '@retrace/compute';

/**
 * Computes V at the cells that a pack reads: [M].
 *
 * @param policyHidden_MH the policy's final hidden states there, which are used if the value head reads its trunk
 */
export function computeValues(
  model: Transformer,
  pack: DevicePack,
  policyHidden_MH?: tf.Tensor,
  options: ForwardOptions = {},
): tf.Tensor {
  const states_MH =
    model.critic === null && policyHidden_MH
      ? policyHidden_MH
      : hiddenAtReads(model.critic ?? model, pack, options);
  return tf.reshape(linear(states_MH, model.parameter(VALUE_HEAD_KEY), null), [-1]);
}
