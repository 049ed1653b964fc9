import { checkLength, checkMask } from '../layout/check.js';
import { toOffsets } from '../layout/ragged.js';
import type { AdvantageBatch } from './advantage-batch.js';

/** A batch without some of its episodes, and the way back. */
export interface RemainingBatch {
  readonly batch: AdvantageBatch;
  /** Puts values of the remaining tokens where they belong in the whole batch; 0 for those left out. */
  restore(values: Float32Array): Float32Array;
}

/**
 * Leaves out the episodes that `excluded` marks, as if they had never been collected: no statistic of a group or of the
 * batch sees them. Used for episodes whose reward is missing, for which 0 would be wrong.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` when a column does not fit the episodes, steps or tokens of the batch
 */
export function excludeEpisodes(batch: AdvantageBatch, excluded: Uint8Array): RemainingBatch {
  const { offsets } = batch;
  const numEpisodes = offsets.length - 1;
  checkMask('excluded', excluded, numEpisodes);
  const episodes = computeIndices(numEpisodes, (e) => excluded[e] === 0);
  const tokens = computeEntries(offsets, episodes);
  const { episodeSteps = null, stepOffsets = null } = batch;
  const steps = episodeSteps === null ? null : computeEntries(episodeSteps, episodes);

  const perEpisode = <T extends Column>(name: string, column: T | null | undefined): T | null =>
    take(name, column, { length: numEpisodes, at: episodes });
  const perToken = <T extends Column>(name: string, column: T | null | undefined): T | null =>
    take(name, column, { length: offsets[numEpisodes], at: tokens });
  const components = batch.rewardComponents ?? null;
  return {
    batch: {
      offsets: lengthsAt(offsets, episodes),
      rewards: pick(batch.rewards, tokens),
      groupIds: renumber(pick(batch.groupIds, episodes)),
      values: perToken('values', batch.values),
      truncated: perEpisode('truncated', batch.truncated),
      finalValues: perEpisode('finalValues', batch.finalValues),
      proximalLogprobs: perToken('proximalLogprobs', batch.proximalLogprobs),
      behaviorLogprobs: perToken('behaviorLogprobs', batch.behaviorLogprobs),
      sumSquaredProbabilities: perToken('sumSquaredProbabilities', batch.sumSquaredProbabilities),
      importanceWeights: perToken('importanceWeights', batch.importanceWeights),
      episodeSteps: episodeSteps && lengthsAt(episodeSteps, episodes),
      stepOffsets: stepOffsets && steps && lengthsAt(stepOffsets, steps),
      anchors:
        steps && take('anchors', batch.anchors, { length: (stepOffsets ?? offsets).length - 1, at: steps }),
      greedyReturns: perEpisode('greedyReturns', batch.greedyReturns),
      rewardComponents: components?.map((column) => pick(column, episodes)) ?? null,
      componentWeights: batch.componentWeights,
      roleIds: perEpisode('roleIds', batch.roleIds),
      roleBaselines: batch.roleBaselines,
    },
    restore(values) {
      const whole = new Float32Array(offsets[numEpisodes]);
      tokens.forEach((t, i) => {
        whole[t] = values[i];
      });
      return whole;
    },
  };
}

type Column = Float32Array | Int32Array | Uint8Array;

function take<T extends Column>(
  name: string,
  column: T | null | undefined,
  { length, at }: { readonly length: number; readonly at: Int32Array },
): T | null {
  if (!column) return null;
  checkLength({ [name]: column }, length);
  return pick(column, at);
}

function pick<T extends Column>(column: T, at: Int32Array): T {
  const picked = new (column.constructor as new (length: number) => T)(at.length);
  for (let i = 0; i < at.length; i++) picked[i] = column[at[i]];
  return picked;
}

function computeIndices(length: number, keeps: (index: number) => boolean): Int32Array {
  return Int32Array.from(Array.from({ length }, (_, index) => index).filter(keeps));
}

/** Positions of the entries of these rows. */
function computeEntries(offsets: Int32Array, rows: Int32Array): Int32Array {
  const kept = lengthsAt(offsets, rows);
  const entries = new Int32Array(kept[rows.length]);
  rows.forEach((row, i) => {
    for (let j = kept[i]; j < kept[i + 1]; j++) entries[j] = offsets[row] + j - kept[i];
  });
  return entries;
}

/** Offsets of these rows by themselves. */
function lengthsAt(offsets: Int32Array, rows: Int32Array): Int32Array {
  return toOffsets(rows.map((row) => offsets[row + 1] - offsets[row]));
}

/** Group numbers 0, 1, 2 … in order of first appearance, so that they stay below the number of episodes. */
function renumber(groupIds: Int32Array): Int32Array {
  const numbers = new Map<number, number>();
  return groupIds.map((group) => {
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  });
}
