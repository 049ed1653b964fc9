/*
 * The one coordinate of an update: its A action tokens, in the order in which they were stored. What a stage reads or makes of a token is a
 * column [A]. Only engines work on the N tokens of sequences, prompts included; this file and `steps/mini-batches.ts` are the only ones that
 * convert.
 */
import { Pcg32, shuffle } from '@retrace/random';
import type { TokenBatch } from '@retrace/trajectory';
import type { EvaluatedTokens, EvaluationOptions, UpdateEngine } from '../engine/update-engine.js';

/** The policy's view of the action tokens, all [A]; nobody reads it at those that the mask leaves out. */
export type EvaluatedActions = EvaluatedTokens;

/** As `EvaluationOptions`, with a mask [A]. */
export type ActionOptions = EvaluationOptions;

/** Evaluates action tokens under the engine's current weights. */
export async function evaluateActions(
  engine: Pick<UpdateEngine, 'evaluate'>,
  batch: TokenBatch,
  options: ActionOptions,
): Promise<EvaluatedActions> {
  const { actionTokens } = batch;
  const evaluated = await engine.evaluate(batch, { ...options, mask: maskOfTokens(batch, options.mask) });
  const { values, sumSquaredProbabilities } = evaluated;
  return {
    logprobs: gather(evaluated.logprobs, actionTokens),
    entropies: gather(evaluated.entropies, actionTokens),
    values: values && gather(values, actionTokens),
    sumSquaredProbabilities: sumSquaredProbabilities && gather(sumSquaredProbabilities, actionTokens),
  };
}

/** [N] 1 at the action tokens that the mask [A] marks. */
export function maskOfTokens(
  { tokenIds, actionTokens }: Pick<TokenBatch, 'tokenIds' | 'actionTokens'>,
  mask: Uint8Array,
): Uint8Array {
  const ofTokens = new Uint8Array(tokenIds.length);
  for (let a = 0; a < actionTokens.length; a++) ofTokens[actionTokens[a]] = mask[a];
  return ofTokens;
}

/** [S + 1] Sequences over the action tokens. */
export function sequenceActionOffsets({
  sequenceOffsets,
  actionTokens,
}: Pick<TokenBatch, 'sequenceOffsets' | 'actionTokens'>): Int32Array {
  let a = 0;
  return sequenceOffsets.map((end) => {
    while (a < actionTokens.length && actionTokens[a] < end) a += 1;
    return a;
  });
}

/** [S + 1] Sequences over the action tokens that the mask [A] marks. @param offsets [S + 1] over all of them */
export function offsetsOfMarked(offsets: Int32Array, mask: Uint8Array): Int32Array {
  let [a, count] = [0, 0];
  return offsets.map((end) => {
    for (; a < end; a++) count += mask[a];
    return count;
  });
}

/** [A] 1 for the action tokens of the episodes that are marked [E]. */
export function selectActions(
  { episodeActionOffsets }: Pick<TokenBatch, 'episodeActionOffsets'>,
  episodes: Uint8Array,
): Uint8Array {
  const mask = new Uint8Array(episodeActionOffsets[episodes.length]);
  for (let e = 0; e < episodes.length; e++)
    if (episodes[e] === 1) mask.fill(1, episodeActionOffsets[e], episodeActionOffsets[e + 1]);
  return mask;
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

/** Positions of the elements that the mask marks, ascending. */
export function listPositions(mask: Uint8Array): Int32Array {
  const positions = new Int32Array(countMarked(mask));
  let count = 0;
  for (let a = 0; a < mask.length; a++) if (mask[a] === 1) positions[count++] = a;
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
export function scatter(
  values: ArrayLike<number>,
  positions: Int32Array,
  length: number,
): Float32Array<ArrayBuffer> {
  const result = new Float32Array(length);
  for (let i = 0; i < positions.length; i++) result[positions[i]] = values[i];
  return result;
}

/** In an order that the seed decides. */
export function shuffled(values: Float32Array, seed: number): Float32Array {
  const result = Float32Array.from(values);
  shuffle(result, new Pcg32(seed, 1));
  return result;
}

/** Mask of the first `count` elements that `mask` marks. */
export function keepFirst(mask: Uint8Array, count: number): Uint8Array {
  const first = new Uint8Array(mask.length);
  let left = count;
  for (let a = 0; a < mask.length && left > 0; a++) {
    first[a] = mask[a];
    left -= mask[a];
  }
  return first;
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
  for (let a = 0; a < mask.length; a++) count += mask[a];
  return count;
}
