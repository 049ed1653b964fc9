import type { SequenceBatch } from './sequence-batch.js';

/**
 * [N] 1 at the positions from which the wanted tokens are predicted: those right before them in their sequence.
 * The first token of a sequence has no such position, so wanting it marks nothing.
 */
export function predictingPositions(
  { sequenceOffsets }: SequenceBatch,
  wanted: (n: number) => boolean,
): Uint8Array {
  const numSequences = sequenceOffsets.length - 1;
  const readMask = new Uint8Array(sequenceOffsets[numSequences]);
  for (let s = 0; s < numSequences; s++) {
    for (let n = sequenceOffsets[s] + 1; n < sequenceOffsets[s + 1]; n++) {
      if (wanted(n)) readMask[n - 1] = 1;
    }
  }
  return readMask;
}

/** [N] 1 at the last token of each sequence. */
export function lastPositions({ sequenceOffsets }: SequenceBatch): Uint8Array {
  const numSequences = sequenceOffsets.length - 1;
  const readMask = new Uint8Array(sequenceOffsets[numSequences]);
  for (let s = 0; s < numSequences; s++) {
    if (sequenceOffsets[s + 1] > sequenceOffsets[s]) readMask[sequenceOffsets[s + 1] - 1] = 1;
  }
  return readMask;
}
