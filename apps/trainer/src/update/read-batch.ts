import { numberGroups } from '@retrace/algorithms';
import { buildTokenBatch, END_REASONS, type EpisodeColumns, type TokenBatch } from '@retrace/trajectory';
import { assertAccountedLogprobs } from './behavior-check.js';
import { greedyBaselines } from './greedy-baselines.js';
import { actionsOf, not } from './token-columns.js';
import type { UpdateNeeds } from './update-needs.js';

const TRUNCATED = END_REASONS.indexOf('truncated');

/** The tokens of a batch of stored episodes. */
export interface ReadBatch {
  readonly batch: TokenBatch;
  /** [E] */
  readonly groupIds: Int32Array;
  /** [E] 1 for episodes that were cut by us. */
  readonly truncated: Uint8Array;
  /**
   * [E] 1 for the cut episodes that are bootstrapped with the critic's value of the final observation; none where the recipe treats a cut as an end.
   */
  readonly bootstrapped: Uint8Array;
  /**
   * [E] 1 for episodes whose environment failed: they were cut and have no final observation, so nothing says what would have
   * followed. Their reward counts as missing.
   */
  readonly broken: Uint8Array;
  /** [E] 1 for episodes that were played greedily as baselines; null where none was. */
  readonly baselines: Uint8Array | null;
  /** [N] 1 at action tokens that were sampled to be trained. */
  readonly sampled: Uint8Array;
  /** [N] 1 at those of them that were drawn from the policy's whole distribution, so that their logprobs can be compared with it. */
  readonly comparable: Uint8Array;
}

interface ReadBatchOptions {
  /** Of the sampling that the recipe asks for. */
  readonly temperature: number;
  readonly needs: Pick<UpdateNeeds, 'greedyBaseline' | 'behaviorLogprobs' | 'finalValues'>;
}

/**
 * Rebuilds sequences from the deltas that are stored, and checks that their behavior logprobs can be accounted for, where they are read.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS`: such data is never trained on
 */
export function readBatch(columns: EpisodeColumns, { temperature, needs }: ReadBatchOptions): ReadBatch {
  const batch = buildTokenBatch(columns);
  const baselines = needs.greedyBaseline ? greedyBaselines(columns) : null;
  if (needs.behaviorLogprobs) assertAccountedLogprobs(columns, batch, { temperature, exempt: baselines });
  const truncated = findTruncated(columns);
  const sampled = baselines ? actionsOf(batch, not(baselines)) : batch.actionMask;
  return {
    batch,
    baselines,
    groupIds: numberGroups(columns.groupIds).groupIds,
    truncated,
    bootstrapped: needs.finalValues ? truncated : new Uint8Array(truncated.length),
    broken: findBroken(truncated, batch),
    sampled,
    comparable: withoutLikeliest(columns, batch, sampled),
  };
}

/** [N] The mask without the tokens of steps that were chosen among the likeliest tokens only. */
function withoutLikeliest(
  { greedy }: Pick<EpisodeColumns, 'greedy'>,
  { actionTokens, actionStep }: Pick<TokenBatch, 'actionTokens' | 'actionStep'>,
  mask: Uint8Array,
): Uint8Array {
  if (!greedy.includes(1)) return mask;
  const kept = mask.slice();
  actionTokens.forEach((n, a) => {
    if (greedy[actionStep[a]] === 1) kept[n] = 0;
  });
  return kept;
}

/** [E] 1 for episodes that were cut by us. */
export function findTruncated({ endReasons }: Pick<EpisodeColumns, 'endReasons'>): Uint8Array {
  return endReasons.map((reason) => Number(reason === TRUNCATED));
}

/** [E] 1 for episodes whose environment failed: they were cut, and have no final observation. */
export function findBroken(
  truncated: Uint8Array,
  { finalSequences: { sequenceOffsets } }: Pick<TokenBatch, 'finalSequences'>,
): Uint8Array {
  return truncated.map((isTruncated, e) =>
    Number(isTruncated === 1 && sequenceOffsets[e + 1] === sequenceOffsets[e]),
  );
}
