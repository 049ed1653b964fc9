import * as tf from '@tensorflow/tfjs-core';
import { hiddenAtReads } from '../model/forward.js';
import type { DeviceRows } from '../model/forward.js';
import { valueHeadKey } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '../ops/linear.js';

/**
 * V at the positions that rows read: [M]. Where the value head reads the policy's trunk, its final hidden states there
 * [M, h] may be given, so that they aren't computed twice.
 */
export function valuesOf(model: Transformer, rows: DeviceRows, policyHidden_MH?: tf.Tensor): tf.Tensor {
  const states_MH =
    model.critic === null && policyHidden_MH ? policyHidden_MH : hiddenAtReads(model.critic ?? model, rows);
  return tf.reshape(linear(states_MH, model.matrix(valueHeadKey), null), [-1]);
}
