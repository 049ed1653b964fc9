import type { EpisodeColumns } from '@retrace/trajectory';
import { concat, concatOffsets } from '../arrow/concat.js';

/** Joins the episodes of several slices. */
export function concatEpisodeColumns(slices: readonly EpisodeColumns[]): EpisodeColumns {
  if (slices.length === 1) return slices[0];
  const all = <K extends keyof EpisodeColumns>(name: K): EpisodeColumns[K][] =>
    slices.map((slice) => slice[name]);
  return {
    episodeIds: all('episodeIds').flat(),
    groupIds: all('groupIds').flat(),
    endReasons: concat(Uint8Array, all('endReasons')),
    successes: concat(Int8Array, all('successes')),
    stepOffsets: concatOffsets(all('stepOffsets')),
    steps: concat(Int32Array, all('steps')),
    rewards: concat(Float64Array, all('rewards')),
    anchors: all('anchors').flat(),
    actionValid: concat(Uint8Array, all('actionValid')),
    keptPrefixTokens: concat(Int32Array, all('keptPrefixTokens')),
    temperatures: concat(Float32Array, all('temperatures')),
    greedy: concat(Uint8Array, all('greedy')),
    tokenOffsets: concatOffsets(all('tokenOffsets')),
    tokenIds: concat(Int32Array, all('tokenIds')),
    actionMask: concat(Uint8Array, all('actionMask')),
    tokenLogprobs: concat(Float32Array, all('tokenLogprobs')),
    tokenPolicyVersions: concat(Int32Array, all('tokenPolicyVersions')),
    finalTokenOffsets: concatOffsets(all('finalTokenOffsets')),
    finalTokenIds: concat(Int32Array, all('finalTokenIds')),
    finalKeptPrefixTokens: concat(Int32Array, all('finalKeptPrefixTokens')),
  };
}
