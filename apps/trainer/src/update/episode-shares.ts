import type { TokenBatch } from '@retrace/trajectory';
import type { UpdateColumns } from './mini-batches.js';

/** The part that each of the E episodes of a batch has in its update. */
export interface EpisodeShares {
  /** [E] How often each epoch of optimizer steps trains it; 0: it was left out. */
  readonly times: Int32Array;
  /** [E] Action tokens that the loss counts: trained, and not rejected. */
  readonly numTokens: Int32Array;
  /** [E] Mean importance weight of those tokens, 1 where none is weighted; NaN without such a token. */
  readonly weights: Float32Array;
  /** [E] Statistics of the advantages over those tokens; NaN without such a token, or without advantages. */
  readonly advantageMeans: Float32Array;
  /** [E] Of the population. */
  readonly advantageDeviations: Float32Array;
  readonly advantageMins: Float32Array;
  readonly advantageMaxs: Float32Array;
}

type SharedColumns = Pick<UpdateColumns, 'trainedMask' | 'keptMask'> &
  Partial<Pick<UpdateColumns, 'advantages' | 'importanceWeights'>>;

type EpisodeTokens = Pick<TokenBatch, 'actionTokens' | 'episodeActionOffsets'>;

/**
 * Sums up what the loss reads of each token, by episode.
 *
 * @param copies [E] how often each episode is trained; null: once
 */
export function episodeShares(
  { actionTokens, episodeActionOffsets }: EpisodeTokens,
  { trainedMask, keptMask, advantages, importanceWeights }: SharedColumns,
  copies: Int32Array | null,
): EpisodeShares {
  const numEpisodes = episodeActionOffsets.length - 1;
  const numbers = () => new Float32Array(numEpisodes).fill(Number.NaN);
  const shares = {
    times: new Int32Array(numEpisodes),
    numTokens: new Int32Array(numEpisodes),
    weights: numbers(),
    advantageMeans: numbers(),
    advantageDeviations: numbers(),
    advantageMins: numbers(),
    advantageMaxs: numbers(),
  };
  for (let e = 0; e < numEpisodes; e++) {
    const actions = actionTokens.subarray(episodeActionOffsets[e], episodeActionOffsets[e + 1]);
    const trained = marked(actions, trainedMask);
    const counted = keptMask === null ? trained : marked(trained, keptMask);
    shares.times[e] = trained.length === 0 ? 0 : (copies?.[e] ?? 1);
    shares.numTokens[e] = counted.length;
    if (counted.length === 0) continue;
    shares.weights[e] = importanceWeights ? mean(importanceWeights, counted) : 1;
    if (!advantages) continue;
    const center = mean(advantages, counted);
    const range = spread(advantages, counted, center);
    shares.advantageMeans[e] = center;
    shares.advantageDeviations[e] = Math.sqrt(range.variance);
    shares.advantageMins[e] = range.least;
    shares.advantageMaxs[e] = range.most;
  }
  return shares;
}

/** The positions that a mask marks; the same array where it marks all. */
function marked(positions: Int32Array, mask: Uint8Array): Int32Array {
  let count = 0;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < positions.length; i++) count += mask[positions[i]];
  return count === positions.length ? positions : positions.filter((n) => mask[n] === 1);
}

/** Without −0, which JSON does not keep. */
function mean(values: Float32Array, positions: Int32Array): number {
  let sum = 0;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < positions.length; i++) sum += values[positions[i]];
  return sum / positions.length + 0;
}

function spread(values: Float32Array, positions: Int32Array, center: number) {
  let [squares, least, most] = [0, Infinity, -Infinity];
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < positions.length; i++) {
    const value = values[positions[i]];
    squares += (value - center) ** 2;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { variance: squares / positions.length + 0, least, most };
}
