/**
 * Log probability of a chosen id, and entropy, of softmax(z/temperature) for rows of logits z.
 *
 * Legend: M rows · V vocabulary.
 */
import * as tf from '../../tensorflow.js';
import { logSoftmax } from './log-softmax.js';
import { hasNativeOps, nativeOp } from '../kernels/native-op.js';

/** Ids beside the target whose log p is wanted too, k a row. */
export interface ChosenIds {
  readonly numPerRow: number;
  /** [M·k] 0 … V−1, those of a row together. An id may be there twice. */
  readonly ids: Int32Array;
}

export interface TargetStatistics {
  /** [2 + k, M]: log p of each target, −Σ p log p, and log p of the chosen ids, in nats. */
  readonly value: tf.Tensor;
  /** [M, V] for `targetStatisticsGradient`. */
  readonly state: tf.Tensor;
}

/** Not differentiable. Targets are ids 0 … V−1, one a row. */
export function targetStatistics(
  logits_MV: tf.Tensor,
  targets: Int32Array,
  temperature: number,
  chosen: ChosenIds | null = null,
): TargetStatistics {
  if (hasNativeOps()) {
    const inputs = [logits_MV, tf.tensor1d(targets, 'int32'), tf.scalar(1 / temperature)];
    const [value] = nativeOp('RetraceTokenDistribution', inputs);
    if (chosen === null) return { value, state: logits_MV };
    const z_M = tf.div(pick(logits_MV, targets), temperature);
    const logSum_M = tf.sub(z_M, tf.reshape(tf.slice(value, [0, 0], [1, targets.length]), [-1]));
    const chosen_kM = tf.sub(tf.div(pickChosen(logits_MV, chosen), temperature), logSum_M);
    return { value: tf.concat([value, chosen_kM]), state: logits_MV };
  }
  const logp_MV = logSoftmax(temperature === 1 ? logits_MV : tf.div(logits_MV, temperature));
  const entropy_M = tf.neg(tf.sum(tf.mul(tf.exp(logp_MV), logp_MV), 1));
  const value = tf.stack([pick(logp_MV, targets), entropy_M]);
  return {
    value: chosen === null ? value : tf.concat([value, pickChosen(logp_MV, chosen)]),
    state: logp_MV,
  };
}

/**
 * The gradient by the logits for dy [2 + k, M], by ∂log p_t/∂z = (1[t] − p)/temperature and
 * ∂H/∂z = −p(log p + H)/temperature: [M, V].
 */
export function targetStatisticsGradient(
  dy: tf.Tensor,
  statistics: TargetStatistics,
  targets: Int32Array,
  temperature: number,
  chosen: ChosenIds | null = null,
): tf.Tensor {
  if (chosen === null) return gradientOfTargets(dy, statistics, targets, temperature);
  const { numPerRow } = chosen;
  const [dTarget_1M, dEntropy_1M, dChosen_kM] = tf.split(dy, [1, 1, numPerRow], 0);
  // Every log p has the same −p for all ids: the target gets that of all, and gives back what is theirs.
  const dOthers_1M = tf.sum(dChosen_kM, 0, true);
  const dAll_2M = tf.concat([tf.add(dTarget_1M, dOthers_1M), dEntropy_1M]);
  const dLogits_MV = gradientOfTargets(dAll_2M, statistics, targets, temperature);
  const updates = tf.div(tf.reshape(tf.concat([dChosen_kM, tf.neg(dOthers_1M)]), [-1]), temperature);
  const places = placesOfRows((row, i) => (i < numPerRow ? chosen.ids[row * numPerRow + i] : targets[row]), {
    numPerRow: numPerRow + 1,
    numRows: targets.length,
    vocabSize: dLogits_MV.size / targets.length,
  });
  const indices = tf.tensor2d(places, [places.length, 1], 'int32');
  const scattered = tf.scatterND(indices, updates, [dLogits_MV.size]);
  return tf.add(dLogits_MV, tf.reshape(scattered, dLogits_MV.shape));
}

function gradientOfTargets(
  dy_2M: tf.Tensor,
  { value, state }: TargetStatistics,
  targets: Int32Array,
  temperature: number,
): tf.Tensor {
  if (hasNativeOps()) {
    const inputs = [dy_2M, state, tf.tensor1d(targets, 'int32'), tf.scalar(1 / temperature)];
    return nativeOp('RetraceTokenDistributionGradient', inputs)[0];
  }
  const [dChosen_M1, dEntropy_M1] = tf.split(dy_2M, 2, 0).map((row) => tf.reshape(row, [-1, 1]));
  const entropy_M1 = tf.reshape(tf.slice(value, [1, 0], [1, targets.length]), [-1, 1]);
  const surprise_MV = tf.mul(dEntropy_M1, tf.add(state, entropy_M1));
  const spread_MV = tf.mul(tf.exp(state), tf.add(surprise_MV, dChosen_M1));
  const vocabSize = state.size / targets.length;
  const oneHot_MV = tf.oneHot(tf.tensor1d(targets, 'int32'), vocabSize, 1, 0, 'float32');
  const dLogits_MV = tf.sub(tf.mul(oneHot_MV, dChosen_M1), spread_MV);
  return temperature === 1 ? dLogits_MV : tf.div(dLogits_MV, temperature);
}

/** Element `targets[m]` of row m. */
function pick(x_MV: tf.Tensor, targets: Int32Array): tf.Tensor {
  const shape = { numPerRow: 1, numRows: targets.length, vocabSize: x_MV.size / targets.length };
  const places = placesOfRows((row) => targets[row], shape);
  return tf.gather(tf.reshape(x_MV, [-1]), tf.tensor1d(places, 'int32'));
}

/** [k, M] The elements of the chosen ids. */
function pickChosen(x_MV: tf.Tensor, { numPerRow, ids }: ChosenIds): tf.Tensor {
  const numRows = ids.length / numPerRow;
  const shape = { numPerRow, numRows, vocabSize: x_MV.size / numRows };
  const places = placesOfRows((row, i) => ids[row * numPerRow + i], shape);
  return tf.reshape(tf.gather(tf.reshape(x_MV, [-1]), tf.tensor1d(places, 'int32')), [numPerRow, numRows]);
}

interface PlacesShape {
  readonly numPerRow: number;
  readonly numRows: number;
  readonly vocabSize: number;
}

/** [numPerRow·M] Flat places in [M, V] of ids: the first id of all rows, then the second, and so on. */
function placesOfRows(
  idAt: (row: number, i: number) => number,
  { numPerRow, numRows, vocabSize }: PlacesShape,
): Int32Array {
  const places = new Int32Array(numPerRow * numRows);
  for (let i = 0; i < numPerRow; i++)
    for (let row = 0; row < numRows; row++) places[i * numRows + row] = row * vocabSize + idAt(row, i);
  return places;
}
