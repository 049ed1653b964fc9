import { Pcg32, shuffle } from '@retrace/random';
import type { TokenBatch } from '@retrace/trajectory';

/** Positions of the tokens that the mask marks, ascending. */
export function positionsOf(mask: Uint8Array): Int32Array {
  const positions = new Int32Array(countMarked(mask));
  let count = 0;
  for (let n = 0; n < mask.length; n++) if (mask[n] === 1) positions[count++] = n;
  return positions;
}

/** Values at these positions. */
export function gather(values: Float32Array, positions: Int32Array): Float32Array {
  return gatherInto(new Float32Array(positions.length), values, positions);
}

/** Bits of a mask at these positions. */
export function gatherMask(mask: Uint8Array, positions: Int32Array): Uint8Array {
  return gatherInto(new Uint8Array(positions.length), mask, positions);
}

function gatherInto<T extends Float32Array | Uint8Array>(gathered: T, values: T, positions: Int32Array): T {
  for (let i = 0; i < gathered.length; i++) gathered[i] = values[positions[i]];
  return gathered;
}

/** [length] the values at their positions, 0 elsewhere. */
export function scatter(values: Float32Array, positions: Int32Array, length: number): Float32Array {
  const result = new Float32Array(length);
  for (let a = 0; a < positions.length; a++) result[positions[a]] = values[a];
  return result;
}

/** In an order that the seed decides. */
export function shuffled(values: Float32Array, seed: number): Float32Array {
  const result = Float32Array.from(values);
  shuffle(result, new Pcg32(seed, 1));
  return result;
}

/** Mask [N] of the first `count` tokens that `mask` marks. */
export function firstOf(mask: Uint8Array, count: number): Uint8Array {
  const first = new Uint8Array(mask.length);
  let left = count;
  for (let n = 0; n < mask.length && left > 0; n++) {
    first[n] = mask[n];
    left -= mask[n];
  }
  return first;
}

/** Mask [N] of the action tokens of the episodes that are marked [E]. */
export function actionsOf(
  batch: Pick<TokenBatch, 'tokenIds' | 'episodeActionOffsets' | 'actionTokens'>,
  episodes: Uint8Array,
): Uint8Array {
  const mask = new Uint8Array(batch.tokenIds.length);
  for (let e = 0; e < episodes.length; e++) {
    if (episodes[e] === 0) continue;
    for (let a = batch.episodeActionOffsets[e]; a < batch.episodeActionOffsets[e + 1]; a++)
      mask[batch.actionTokens[a]] = 1;
  }
  return mask;
}

/** [S + 1] Sequences over the action tokens that `mask` marks, whose positions ascend. */
export function sequenceActionOffsets(
  { sequenceOffsets }: Pick<TokenBatch, 'sequenceOffsets'>,
  mask: Uint8Array,
): Int32Array {
  const offsets = new Int32Array(sequenceOffsets.length);
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    let count = 0;
    for (let n = sequenceOffsets[s]; n < sequenceOffsets[s + 1]; n++) count += mask[n];
    offsets[s + 1] = offsets[s] + count;
  }
  return offsets;
}

/** [S] The episode that each sequence belongs to. */
export function episodeOfSequence({
  episodeSequenceOffsets,
  sequenceOffsets,
}: Pick<TokenBatch, 'episodeSequenceOffsets' | 'sequenceOffsets'>): Int32Array {
  const episodes = new Int32Array(sequenceOffsets.length - 1);
  for (let e = 0; e + 1 < episodeSequenceOffsets.length; e++)
    episodes.fill(e, episodeSequenceOffsets[e], episodeSequenceOffsets[e + 1]);
  return episodes;
}

/** 1 where the mask is 0, and 0 where it is 1. */
export function not(mask: Uint8Array): Uint8Array {
  return mask.map((bit) => 1 - bit);
}

/** The elements that the mask marks and the other doesn't. */
export function without(mask: Uint8Array, other: Uint8Array): Uint8Array {
  return mask.map((bit, i) => bit & (1 - other[i]));
}

/** How many elements the mask marks. */
export function countMarked(mask: Uint8Array): number {
  let count = 0;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let n = 0; n < mask.length; n++) count += mask[n];
  return count;
}
