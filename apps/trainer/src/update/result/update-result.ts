import type { TeacherTop } from '@retrace/policy';
import type { EpisodeColumns, Json, TokenBatch } from '@retrace/trajectory';
import { countMarked, gather, listPositions } from '../action-tokens.js';
import type { UpdateColumns } from '../loss-columns.js';
import type { UpdateOutcome } from '../steps/optimizer-steps.js';
import type { MetricEntries } from '../../metric-entries.js';
import { traceTokens, type TokenTrace } from './token-trace.js';

/** The A action tokens that an update read, with columns [A] of its loss. */
export interface UpdateTokens
  extends
    Pick<TokenBatch, 'actionStep' | 'episodeActionOffsets'>,
    Pick<UpdateColumns, 'trainedMask' | 'keptMask' | 'advantages' | 'importanceWeights'> {
  /** [E] */
  readonly episodeIds: readonly string[];
  /** [E] */
  readonly groupIds: readonly string[];
}

/** All that a commit records of an update, beside the files. */
export interface UpdateResult {
  readonly outcome: UpdateOutcome;
  readonly shares: EpisodeShares;
  readonly tokens: UpdateTokens;
  /** Null unless the recipe has the tokens recorded. */
  readonly tokenTrace: TokenTrace | null;
  /** Metrics that follow from the batch, the same in a replay. None is NaN: metrics that were not measured are left out. */
  readonly metrics: MetricEntries;
  readonly warnings: readonly string[];
  /** Why the update learned from nothing; null where it learned from at least one token. */
  readonly alarm: string | null;
  /** [E] Total reward of each episode, NaN where it was missing; null where rewards play no part. */
  readonly episodeRewards: Float64Array | null;
  /** [G] Of the plan's groups, for later draws; null where the sampler has no priorities. */
  readonly groupPriorities: Float64Array | null;
  /** State that the next update starts from beside weights and optimizer; null where the recipe keeps none. */
  readonly trainerState: Json;
}

type LossOfTokens = Pick<UpdateTokens, 'trainedMask' | 'keptMask'> &
  Partial<Pick<UpdateTokens, 'advantages' | 'importanceWeights'>>;

interface TrainedTokens extends LossOfTokens {
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
  readonly outcome: Pick<UpdateOutcome, 'stepTokens'>;
  /** [A] KL that was charged to the rewards (default null: none). */
  readonly kls?: Float32Array | null;
  /** [A] logπ of the teacher (default null: none). */
  readonly teacherLogprobs?: Float32Array | null;
  /** At the action tokens [A] (default null: none). */
  readonly teacherTop?: TeacherTop | null;
}

/** The share of each episode in an update, and the tokens with the columns of their loss, for the trace and for metrics. */
export function tokenResults(
  episodes: EpisodeColumns,
  { actionStep, episodeActionOffsets }: Pick<TokenBatch, 'actionStep' | 'episodeActionOffsets'>,
  { copies, outcome, kls = null, teacherLogprobs = null, teacherTop = null, ...columns }: TrainedTokens,
): Pick<UpdateResult, 'shares' | 'tokens' | 'tokenTrace'> {
  const { episodeIds, groupIds } = episodes;
  const { trainedMask, keptMask, advantages = null, importanceWeights = null } = columns;
  const places = { columns: episodes, batch: { actionStep, episodeActionOffsets } };
  return {
    shares: episodeShares(episodeActionOffsets, columns, copies),
    tokens: {
      ...{ episodeIds, groupIds, actionStep, episodeActionOffsets },
      ...{ trainedMask, keptMask, advantages, importanceWeights },
    },
    tokenTrace:
      outcome.stepTokens &&
      traceTokens({
        ...{ ...places, stepTokens: outcome.stepTokens },
        ...{ chargedKls: kls, teacherLogprobs, teacherTop },
      }),
  };
}

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

/**
 * Sums up what the loss reads of each token, by episode.
 *
 * @param episodeActionOffsets [E + 1]
 * @param copies [E] how often each episode is trained; null: once
 */
export function episodeShares(
  episodeActionOffsets: Int32Array,
  { trainedMask, keptMask, advantages, importanceWeights }: LossOfTokens,
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
    const [from, end] = [episodeActionOffsets[e], episodeActionOffsets[e + 1]];
    const trained = trainedMask.subarray(from, end);
    const isCounted = keptMask ? trained.map((bit, i) => bit & keptMask[from + i]) : trained;
    shares.times[e] = trained.includes(1) ? (copies?.[e] ?? 1) : 0;
    shares.numTokens[e] = countMarked(isCounted);
    if (shares.numTokens[e] === 0) continue;
    const counted = (column: Float32Array) => gather(column.subarray(from, end), listPositions(isCounted));
    shares.weights[e] = importanceWeights ? mean(counted(importanceWeights)) : 1;
    if (!advantages) continue;
    const ofEpisode = counted(advantages);
    const center = mean(ofEpisode);
    const range = spread(ofEpisode, center);
    shares.advantageMeans[e] = center;
    shares.advantageDeviations[e] = Math.sqrt(range.variance);
    shares.advantageMins[e] = range.least;
    shares.advantageMaxs[e] = range.most;
  }
  return shares;
}

/** Without −0, which JSON does not keep. */
function mean(values: Float32Array): number {
  let sum = 0;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length + 0;
}

function spread(values: Float32Array, center: number) {
  let [squares, least, most] = [0, Infinity, -Infinity];
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    squares += (value - center) ** 2;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { variance: squares / values.length + 0, least, most };
}
