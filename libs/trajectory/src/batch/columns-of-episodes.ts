import type { EpisodeEnded, StepRecorded } from '../events/episode-events.js';
import { END_REASONS, type EpisodeColumns } from './episode-columns.js';

/** The fields of a step that columns hold. */
export type ColumnsStep = Pick<
  StepRecorded,
  | 'step'
  | 'reward'
  | 'anchor'
  | 'actionValid'
  | 'keptPrefixTokens'
  | 'sampling'
  | 'tokenIds'
  | 'actionMask'
  | 'tokenLogprobs'
  | 'tokenPolicyVersions'
>;

/** The events of a whole episode. */
export interface SealedEpisode {
  readonly episodeId: string;
  readonly groupId: string;
  /** The steps 0 … numSteps − 1. */
  readonly steps: readonly ColumnsStep[];
  readonly ended: Pick<EpisodeEnded, 'endReason' | 'success' | 'finalTokenIds' | 'finalKeptPrefixTokens'>;
}

/** Builds the columns of episodes from their events: the same, bit for bit, as the store's reader gives once it holds them. */
export function columnsOfEpisodes(episodes: readonly SealedEpisode[]): EpisodeColumns {
  const steps = episodes.flatMap((episode) => episode.steps);
  const ends = episodes.map(({ ended }) => ended);
  const tokenOffsets = computeOffsets(steps.map(({ tokenIds }) => tokenIds.length));
  const finalTokenOffsets = computeOffsets(ends.map(({ finalTokenIds }) => finalTokenIds.length));
  const ofTokens = <T extends Int32Array | Uint8Array | Float32Array>(
    Type: new (length: number) => T,
    columnOf: (step: ColumnsStep) => T,
  ): T => joined(Type, tokenOffsets, steps.map(columnOf));
  return {
    episodeIds: episodes.map(({ episodeId }) => episodeId),
    groupIds: episodes.map(({ groupId }) => groupId),
    endReasons: filled(Uint8Array, ends, ({ endReason }) => END_REASONS.indexOf(endReason)),
    successes: filled(Int8Array, ends, ({ success }) => (success === null ? -1 : Number(success))),
    stepOffsets: computeOffsets(episodes.map((episode) => episode.steps.length)),
    steps: filled(Int32Array, steps, ({ step }) => step),
    rewards: filled(Float64Array, steps, ({ reward }) => reward ?? Number.NaN),
    anchors: steps.map(({ anchor }) => anchor),
    actionValid: filled(Uint8Array, steps, ({ actionValid }) => Number(actionValid ?? true)),
    keptPrefixTokens: filled(Int32Array, steps, ({ keptPrefixTokens }) => keptPrefixTokens),
    temperatures: filled(Float32Array, steps, ({ sampling }) => sampling?.temperature ?? Number.NaN),
    greedy: filled(Uint8Array, steps, ({ sampling }) => Number(isNoSample(sampling))),
    tokenOffsets,
    tokenIds: ofTokens(Int32Array, ({ tokenIds }) => tokenIds),
    actionMask: ofTokens(Uint8Array, ({ actionMask }) => actionMask),
    tokenLogprobs: ofTokens(Float32Array, ({ tokenLogprobs }) => tokenLogprobs),
    tokenPolicyVersions: ofTokens(Int32Array, ({ tokenPolicyVersions }) => tokenPolicyVersions),
    finalTokenOffsets,
    finalTokenIds: joined(
      Int32Array,
      finalTokenOffsets,
      ends.map(({ finalTokenIds }) => finalTokenIds),
    ),
    finalKeptPrefixTokens: filled(Int32Array, ends, ({ finalKeptPrefixTokens }) => finalKeptPrefixTokens),
  };
}

/** Whether an action is no sample from the policy: chosen greedily, or only among the likeliest tokens. */
function isNoSample(sampling: ColumnsStep['sampling']): boolean {
  return sampling !== null && (sampling.greedy || sampling.topK > 0 || sampling.topP < 1);
}

function joined<T extends Int32Array | Uint8Array | Float32Array>(
  Type: new (length: number) => T,
  offsets: Int32Array,
  rows: readonly T[],
): T {
  const values = new Type(offsets[rows.length]);
  rows.forEach((row, i) => {
    values.set(row, offsets[i]);
  });
  return values;
}

/** Gives the result of `Type.from(rows, valueOf)` without its iterator, which is slow. */
function filled<R, T extends Int8Array | Int32Array | Uint8Array | Float32Array | Float64Array>(
  Type: new (length: number) => T,
  rows: readonly R[],
  valueOf: (row: R) => number,
): T {
  const values = new Type(rows.length);
  for (let i = 0; i < rows.length; i++) values[i] = valueOf(rows[i]);
  return values;
}

function computeOffsets(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => (offsets[i + 1] = offsets[i] + length));
  return offsets;
}
