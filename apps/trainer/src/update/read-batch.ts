import { numberGroups } from '@retrace/algorithms';
import { buildTokenBatch, END_REASONS, type EpisodeColumns, type TokenBatch } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import { selectActions, gather, not, sequenceActionOffsets } from './action-tokens.js';
import type { UpdateNeeds } from './update-inputs.js';

const TRUNCATED = END_REASONS.indexOf('truncated');

/** A batch of stored episodes: E episodes, S sequences, A action tokens. */
export interface UpdateBatch {
  /** The sequences, as an engine reads them. */
  readonly tokens: TokenBatch;
  /** [S + 1] Sequences over the action tokens. */
  readonly sequenceActionOffsets: Int32Array;
  /** [A] Nats, as they were recorded; NaN = missing. */
  readonly behaviorLogprobs: Float32Array;
  /** [A] The version that sampled each token; −1 = no policy of this run. */
  readonly policyVersions: Int32Array;
  /** [A] 1 for those that were sampled to be trained. */
  readonly sampled: Uint8Array;
  /** [A] 1 for those of them that were drawn from the policy's whole distribution, so that their logprobs can be compared with it. */
  readonly comparable: Uint8Array;
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
export function readBatch(columns: EpisodeColumns, { temperature, needs }: ReadBatchOptions): UpdateBatch {
  const tokens = buildTokenBatch(columns);
  const baselines = needs.greedyBaseline ? greedyBaselines(columns) : null;
  if (needs.behaviorLogprobs) assertAccountedLogprobs(columns, tokens, { temperature, exempt: baselines });
  const truncated = findTruncated(columns);
  const { actionTokens } = tokens;
  const sampled = baselines
    ? selectActions(tokens, not(baselines))
    : new Uint8Array(actionTokens.length).fill(1);
  return {
    tokens,
    sequenceActionOffsets: sequenceActionOffsets(tokens),
    behaviorLogprobs: gather(tokens.behaviorLogprobs, actionTokens),
    policyVersions: actionTokens.map((n) => tokens.policyVersions[n]),
    sampled,
    comparable: withoutLikeliest(columns, tokens, sampled),
    groupIds: numberGroups(columns.groupIds).groupIds,
    truncated,
    bootstrapped: needs.finalValues ? truncated : new Uint8Array(truncated.length),
    broken: findBroken(truncated, tokens),
    baselines,
  };
}

/** [A] The mask without the tokens of steps that were chosen among the likeliest tokens only. */
function withoutLikeliest(
  { greedy, stepOffsets }: Pick<EpisodeColumns, 'greedy' | 'stepOffsets'>,
  { actionStep, episodeActionOffsets }: Pick<TokenBatch, 'actionStep' | 'episodeActionOffsets'>,
  mask: Uint8Array,
): Uint8Array {
  if (!greedy.includes(1)) return mask;
  const kept = mask.slice();
  for (let e = 0; e + 1 < stepOffsets.length; e++) {
    for (let a = episodeActionOffsets[e]; a < episodeActionOffsets[e + 1]; a++)
      if (greedy[stepOffsets[e] + actionStep[a]] === 1) kept[a] = 0;
  }
  return kept;
}

/** [E] 1 for the episodes that were played greedily as a baseline; they are not trained on. */
export function greedyBaselines({
  episodeIds,
  stepOffsets,
  greedy,
}: Pick<EpisodeColumns, 'episodeIds' | 'stepOffsets' | 'greedy'>): Uint8Array {
  return Uint8Array.from(episodeIds, (_, e) =>
    Number(greedy.subarray(stepOffsets[e], stepOffsets[e + 1]).includes(1)),
  );
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

interface LogprobRules {
  /** Temperature at which the trainer computes its own logprobs. */
  readonly temperature: number;
  /** [E] 1 for episodes that are not trained on; null: none. */
  readonly exempt?: Uint8Array | null;
}

/**
 * Refuses a batch with any trained token whose behavior logprob is missing, or is not that of a sample drawn at the temperature at which the trainer
 * computes its own logprobs.
 *
 * @throws TrainerError `UNACCOUNTED_LOGPROBS` naming the episode, the step and the rule
 */
export function assertAccountedLogprobs(
  columns: EpisodeColumns,
  tokens: TokenBatch,
  { temperature, exempt = null }: LogprobRules,
): void {
  const refuse = (episode: number, step: number, problem: string): never => {
    throw new TrainerError(
      'UNACCOUNTED_LOGPROBS',
      `episode ${columns.episodeIds[episode]}, step ${step}: ${problem}`,
    );
  };
  for (let e = 0; e < columns.episodeIds.length; e++) {
    if (exempt?.[e] === 1) continue;
    for (let s = columns.stepOffsets[e]; s < columns.stepOffsets[e + 1]; s++) {
      if (columns.greedy[s] === 1)
        refuse(
          e,
          columns.steps[s],
          'chosen greedily or among the likeliest tokens only (top-k, top-p); must be sampled from all tokens',
        );
      if (Math.abs(columns.temperatures[s] - temperature) > 1e-6 || Number.isNaN(columns.temperatures[s])) {
        refuse(
          e,
          columns.steps[s],
          `sampled at temperature ${shortest(columns.temperatures[s])}; must be ${temperature}`,
        );
      }
    }
    for (let a = tokens.episodeActionOffsets[e]; a < tokens.episodeActionOffsets[e + 1]; a++) {
      const logprob = tokens.behaviorLogprobs[tokens.actionTokens[a]];
      if (!(logprob <= 1e-5))
        refuse(e, tokens.actionStep[a], `behavior logprob is ${logprob}; must be finite and ≤ 0`);
    }
  }
}

/** A number of a float32 column as it was written: 0.7, not 0.699999988079071. */
const shortest = (value: number): number => Number(value.toPrecision(7));
