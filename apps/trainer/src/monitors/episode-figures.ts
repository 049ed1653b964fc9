import type { EpisodeColumns } from '@retrace/trajectory';
import type { EpisodeFigures } from './monitor.js';

/** The episodes of an update as monitors read them. */
export function episodeFigures(columns: EpisodeColumns, totals: Float64Array): EpisodeFigures {
  const { episodeIds, successes, stepOffsets, tokenOffsets, actionMask } = columns;
  const numActionTokens = new Int32Array(episodeIds.length);
  const repeatedFractions = new Float32Array(episodeIds.length);
  const actions = new Set<string>();
  for (let e = 0; e < episodeIds.length; e++) {
    const [from, to] = [stepOffsets[e], stepOffsets[e + 1]];
    for (let n = tokenOffsets[from]; n < tokenOffsets[to]; n++) numActionTokens[e] += actionMask[n];
    let numRepeated = 0;
    for (let s = from + 1; s < to; s++) numRepeated += Number(isRepeated(columns, s));
    repeatedFractions[e] = to - from > 1 ? numRepeated / (to - from - 1) : 0;
  }
  for (let s = 0; s < columns.steps.length; s++) {
    const action = selectAction(columns, s);
    if (columns.actionValid[s] === 1 && action.length > 0) actions.add(action.join(' '));
  }
  const numTokens = numActionTokens.reduce((sum, count) => sum + count, 0);
  const uniformEntropy = (Math.log(actions.size) * columns.steps.length) / numTokens;
  return {
    ...{ episodeIds, totals, successes, numActionTokens, repeatedFractions },
    uniformEntropy: actions.size === 0 ? Number.NaN : uniformEntropy,
  };
}

/** The tokens that the agent wrote in a step. */
function selectAction({ tokenOffsets, tokenIds, actionMask }: EpisodeColumns, step: number): Int32Array {
  const [from, to] = [tokenOffsets[step], tokenOffsets[step + 1]];
  return tokenIds.subarray(from, to).filter((_, i) => actionMask[from + i] === 1);
}

/** Whether a step appended the same tokens as the step before, and has the same anchor where both have one. */
function isRepeated({ tokenOffsets, tokenIds, anchors }: EpisodeColumns, step: number): boolean {
  const [before, from, to] = [tokenOffsets[step - 1], tokenOffsets[step], tokenOffsets[step + 1]];
  if (to - from !== from - before || to === from) return false;
  if (anchors[step] !== anchors[step - 1]) return false;
  for (let n = from; n < to; n++) if (tokenIds[n] !== tokenIds[n - (from - before)]) return false;
  return true;
}
