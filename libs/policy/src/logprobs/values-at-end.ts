import * as tf from '@retrace/compute/tensorflow';
import { toDevice } from '../model/forward.js';
import type { Transformer } from '../model/transformer.js';
import { inTurns } from '../packing/in-turns.js';
import { lastPositions } from '../packing/read-mask.js';
import { packSequences } from '../packing/sequence-pack.js';
import { validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import { computeValues } from './value-head.js';

/** Tokens in one forward pass. */
const DEFAULT_MAX_TOKENS = 8192;

/**
 * Computes V after the last token of each sequence, [S], with which a truncated episode is bootstrapped; 0 for an empty
 * sequence.
 *
 * @throws PolicyError `INVALID_BATCH`; `INVALID_CONFIG` when the model has no value head
 */
export async function valuesAtEnd(
  model: Transformer,
  batch: SequenceBatch,
  { maxTokensPerMicroBatch = DEFAULT_MAX_TOKENS }: { readonly maxTokensPerMicroBatch?: number } = {},
): Promise<Float32Array> {
  validateSequenceBatch(batch, model.config);
  if (!model.config.valueHead)
    throw new PolicyError('INVALID_CONFIG', 'the model has no value head; set valueHead to have values');
  const values = new Float32Array(batch.sequenceOffsets.length - 1);
  const valueAt = new Float32Array(batch.tokenIds.length);
  const packs = packSequences(batch, { readMask: lastPositions(batch), maxTokens: maxTokensPerMicroBatch });
  for await (const pack of inTurns(packs)) {
    const rowValues = tf.tidy(() => computeValues(model, toDevice(model, pack)));
    const read = await rowValues.data();
    rowValues.dispose();
    pack.readPositions.forEach((n, m) => {
      valueAt[n] = read[m];
    });
  }
  for (let s = 0; s < values.length; s++) {
    const end = batch.sequenceOffsets[s + 1];
    if (end > batch.sequenceOffsets[s]) values[s] = valueAt[end - 1];
  }
  return values;
}
