import type { EpisodeColumns } from '@retrace/trajectory';

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

interface FlatArray extends ArrayLike<number> {
  set(values: ArrayLike<number>, offset: number): void;
}

function concat<A extends FlatArray>(arrayType: new (length: number) => A, parts: readonly A[]): A {
  const whole = new arrayType(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Joins offsets: each part starts at 0 and ends where the next one continues. */
function concatOffsets(parts: readonly Int32Array[]): Int32Array {
  const numRows = parts.reduce((sum, part) => sum + part.length - 1, 0);
  const whole = new Int32Array(numRows + 1);
  let row = 0;
  for (const part of parts) {
    const base = whole[row];
    for (let i = 1; i < part.length; i++) whole[row + i] = base + part[i];
    row += part.length - 1;
  }
  return whole;
}
