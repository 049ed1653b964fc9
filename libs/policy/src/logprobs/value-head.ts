import * as tf from '@tensorflow/tfjs-core';
import { hiddenAtReads } from '../model/forward.js';
import type { DevicePack, ForwardOptions } from '../model/forward.js';
import { VALUE_HEAD_KEY } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '@retrace/compute';

/**
 * V at the cells that a pack reads: [M]. Where the value head reads the policy's trunk, its final hidden states there
 * [M, h] may be given, so that they aren't computed twice.
 */
export function valuesOf(
  model: Transformer,
  pack: DevicePack,
  policyHidden_MH?: tf.Tensor,
  options: ForwardOptions = {},
): tf.Tensor {
  const states_MH =
    model.critic === null && policyHidden_MH
      ? policyHidden_MH
      : hiddenAtReads(model.critic ?? model, pack, options);
  return tf.reshape(linear(states_MH, model.matrix(VALUE_HEAD_KEY), null), [-1]);
}
