import type { MicroBatch } from '@retrace/policy';
import { makeDatum, type Datum, type Reduction } from '@retrace/tinker';

/** A micro-batch with what a loss said of its M wanted tokens. */
export interface DerivedMicroBatch {
  readonly microBatch: MicroBatch;
  /** [M] log π under the current weights. */
  readonly logprobs: Float32Array;
  /** [M] ∂L/∂log π. */
  readonly gradients: Float32Array;
}

/** The sequences of a micro-batch, to be evaluated. */
export function evaluationData(microBatch: MicroBatch): Datum[] {
  return splitSequences(microBatch).map(({ tokenIds, mask }) => makeDatum({ tokenIds, mask }));
}

/** [M] The wanted ones among the logprobs of all targets of all sequences. */
export function wantedLogprobs(microBatch: MicroBatch, ofTargets: readonly Float32Array[]): Float32Array {
  const wanted = new Float32Array(microBatch.positions.length);
  let m = 0;
  splitSequences(microBatch).forEach(({ mask }, s) => {
    for (let t = 0; t < mask.length; t++) if (mask[t] === 1) wanted[m++] = ofTargets[s][t];
  });
  return wanted;
}

/**
 * The sequences of micro-batches, by call, such that the gradient of Σ ∂L/∂log π · log π is what the server has after all calls.
 *
 * The loss `importance_sampling`, −exp(log π − l)·A, has the derivative −A where l is log π itself, so A = −∂L/∂log π. A server that takes means
 * over data of means over targets gets each advantage times both counts.
 */
export function gradientData(parts: readonly DerivedMicroBatch[], reduction: Reduction): Datum[][] {
  const numData = parts.reduce((sum, { microBatch }) => sum + microBatch.sequenceOffsets.length - 1, 0);
  return parts.map(({ microBatch, logprobs, gradients }) => {
    let m = 0;
    return splitSequences(microBatch).map(({ tokenIds, mask }) => {
      const numWanted = mask.reduce((sum, bit) => sum + bit, 0);
      const factor = reduction === 'sum' ? -1 : -numData * numWanted;
      const advantages = new Float32Array(mask.length);
      const current = new Float32Array(mask.length);
      for (let t = 0; t < mask.length; t++) {
        if (mask[t] !== 1) continue;
        advantages[t] = factor * gradients[m];
        current[t] = logprobs[m++];
      }
      return makeDatum({ tokenIds, mask, logprobs: current, advantages });
    });
  });
}

/** Each sequence's tokens [N], and the mask of its targets [N − 1]. */
function splitSequences({ tokenIds, sequenceOffsets, mask }: MicroBatch) {
  return Array.from({ length: sequenceOffsets.length - 1 }, (_, s) => {
    const [start, end] = [sequenceOffsets[s], sequenceOffsets[s + 1]];
    return { tokenIds: tokenIds.subarray(start, end), mask: mask.subarray(start + 1, end) };
  });
}
