import * as tf from '@retrace/compute/tensorflow';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '@retrace/compute';
import { packSequences } from '../packing/sequence-pack.js';

/** The logits of every position of one sequence, [T, V] row by row. */
export async function computeLogits(
  model: Transformer,
  sequence: readonly number[],
): Promise<ArrayLike<number>> {
  const batch = {
    tokenIds: Int32Array.from(sequence),
    sequenceOffsets: Int32Array.of(0, sequence.length),
  };
  const readMask = new Uint8Array(sequence.length).fill(1);
  const [pack] = packSequences(batch, { readMask, maxTokens: sequence.length });
  const logits = tf.tidy(() => linear(hiddenAtReads(model, toDevice(model, pack)), model.lmHead, null));
  const values = await logits.data();
  logits.dispose();
  return values;
}

/** The largest difference, relative to the largest expected number. */
export function relativeDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) return Infinity;
  let worst = 0;
  let scale = 0;
  for (let i = 0; i < expected.length; i++) {
    worst = Math.max(worst, Math.abs(actual[i] - expected[i]));
    scale = Math.max(scale, Math.abs(expected[i]));
  }
  return worst === 0 ? 0 : worst / scale;
}
