import { aggregationWeights, countForAggregation, type Aggregation } from '@retrace/algorithms';

/**
 * Weight of each token's loss, so that Σ w·ℓ is the aggregated loss of the batch: the aggregation sees the trained tokens
 * alone, their weights are put back where they stand, and all others weigh 0.
 *
 * @param trainedMask [N] 1 = trained
 * @param sequenceOffsets [S + 1]
 * @returns [N]
 */
export function lossWeights(
  trainedMask: Uint8Array,
  sequenceOffsets: Int32Array,
  aggregation: Aggregation,
): Float32Array {
  const offsets = new Int32Array(sequenceOffsets.length);
  const positions: number[] = [];
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    for (let n = sequenceOffsets[s]; n < sequenceOffsets[s + 1]; n++)
      if (trainedMask[n] === 1) positions.push(n);
    offsets[s + 1] = positions.length;
  }
  const tokens = { offsets };
  const trained = aggregationWeights(tokens, { aggregation, counts: countForAggregation(tokens) });
  const weights = new Float32Array(trainedMask.length);
  positions.forEach((n, i) => {
    weights[n] = trained[i];
  });
  return weights;
}
