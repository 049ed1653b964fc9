import { END_REASONS, type EpisodeColumns } from '@retrace/trajectory';
import type { FlatNumbers } from '../arrow/arrow-chunk.js';
import type { ArrowColumns } from '../arrow/arrow-columns.js';
import { StoreError } from '../client/store-error.js';
import { amongEpisodes } from './among-episodes.js';
import { takeLists } from './take-lists.js';

/** Kinds as numbers, so that rows need no text compared. */
const KINDS = ['EpisodeStarted', 'StepRecorded', 'EpisodeEnded'] as const;
const [STARTED, STEP, ENDED] = [0, 1, 2];

/**
 * Selects the events of episodes for `EpisodeRows`: of several at one place the first in log order, sorted by episode and seq. A mask,
 * which is zeros and then ones, is sent as its number of ones, and policy versions that are all equal as one version: 8 bytes a token
 * instead of 13.
 *
 * PREWHERE holds only the condition that excludes rows: by itself the engine would filter in four passes, one for each condition.
 */
export function selectEpisodeRows(episodeIds: readonly string[]): string {
  return `
    SELECT
      episode_id, seq, log_offset, toUInt8(indexOf([${KINDS.map((kind) => `'${kind}'`).join(', ')}], toString(kind)) - 1) AS kind_number,
      group_id, end_reason, success, num_steps, reward, anchor, action_valid OR action_valid_unknown AS action_valid, kept_prefix_tokens,
      temperature, events.greedy OR (temperature IS NOT NULL AND (top_k > 0 OR top_p < 1)) AS greedy, token_ids,
      toUInt32(arraySum(action_mask)) AS num_action_tokens_of_step, token_logprobs,
      if(
        arrayMin(token_policy_versions) = arrayMax(token_policy_versions),
        arraySlice(token_policy_versions, 1, 1),
        token_policy_versions
      ) AS policy_versions
    FROM events
    PREWHERE ${amongEpisodes(episodeIds)}
    WHERE run_id = {runId:String}
      AND kind IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})
    ORDER BY run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY run_id, episode_id, seq`;
}

/** The rows of a whole episode in a result. Its steps are rows firstStep … firstStep + numSteps − 1. */
interface EpisodePlace {
  readonly kind: 'whole';
  readonly started: number;
  readonly firstStep: number;
  readonly numSteps: number;
  readonly ended: number;
}

/** An episode that lacks an event. */
interface IncompleteEpisode {
  readonly kind: 'incomplete';
  /** The end of a sentence. */
  readonly missing: string;
}

type StepColumns = Pick<
  EpisodeColumns,
  'steps' | 'rewards' | 'anchors' | 'actionValid' | 'keptPrefixTokens' | 'temperatures' | 'greedy'
>;

/** One result of `selectEpisodeRows`; `toColumns` copies whole episodes out of it. */
export class EpisodeRows {
  private readonly seqs: FlatNumbers;
  private readonly kinds: FlatNumbers;
  private readonly numSteps: FlatNumbers;
  private readonly logOffsets: FlatNumbers;
  private readonly ranges = new Map<string, { readonly first: number; readonly end: number }>();

  constructor(private readonly columns: ArrowColumns) {
    this.seqs = columns.numbers('seq');
    this.kinds = columns.numbers('kind_number');
    this.numSteps = columns.numbers('num_steps');
    this.logOffsets = columns.numbers('log_offset');
    const episodeIds = columns.texts('episode_id');
    let first = 0;
    for (let row = 1; row <= episodeIds.length; row++) {
      if (row < episodeIds.length && episodeIds[row] === episodeIds[first]) continue;
      this.ranges.set(episodeIds[first], { first, end: row });
      first = row;
    }
  }

  /**
   * Copies the columns of these episodes, in this order.
   *
   * @throws StoreError `NOT_YET_VISIBLE` naming the first episode that lacks its start, its end or a step
   */
  toColumns(episodeIds: readonly string[]): EpisodeColumns {
    const places = episodeIds.map((episodeId) => this.locate(episodeId));
    const startedRows = places.map(({ started }) => started);
    const endedRows = places.map(({ ended }) => ended);
    const stepOffsets = computeOffsets(places.map(({ numSteps }) => numSteps));
    const numSteps = stepOffsets[places.length];
    const stepRows = new Int32Array(numSteps);
    places.forEach(({ firstStep }, episode) => {
      const first = stepOffsets[episode];
      for (let row = first; row < stepOffsets[episode + 1]; row++) stepRows[row] = firstStep + row - first;
    });

    const { columns } = this;
    const groupIds = columns.texts('group_id');
    const tokenIds = columns.listChunks('token_ids');
    const steps = takeLists(tokenIds, stepRows, Int32Array);
    const finals = takeLists(tokenIds, endedRows, Int32Array);
    return {
      episodeIds,
      groupIds: startedRows.map((row) => groupIds[row]),
      ...this.endColumns(endedRows),
      stepOffsets,
      ...this.stepColumns(stepRows),
      tokenOffsets: steps.offsets,
      tokenIds: steps.values,
      actionMask: computeMasks(columns.numbers('num_action_tokens_of_step'), stepRows, steps.offsets),
      tokenLogprobs: takeLists(columns.listChunks('token_logprobs'), stepRows, Float32Array).values,
      tokenPolicyVersions: spread(
        takeLists(columns.listChunks('policy_versions'), stepRows, Int32Array),
        steps.offsets,
      ),
      finalTokenOffsets: finals.offsets,
      finalTokenIds: finals.values,
    };
  }

  private endColumns(
    rows: readonly number[],
  ): Pick<EpisodeColumns, 'endReasons' | 'successes' | 'finalKeptPrefixTokens'> {
    const endReason = this.columns.texts('end_reason');
    const success = this.columns.nullableNumbers('success');
    const keptPrefixTokens = this.columns.numbers('kept_prefix_tokens');
    return {
      endReasons: Uint8Array.from(rows, (row) => END_REASONS.indexOf(endReason[row] as never)),
      successes: Int8Array.from(rows, (row) => (success.isValid[row] === 1 ? success.values[row] : -1)),
      finalKeptPrefixTokens: Int32Array.from(rows, (row) => keptPrefixTokens[row]),
    };
  }

  private stepColumns(rows: Int32Array): StepColumns {
    const reward = this.columns.nullableNumbers('reward');
    const anchor = this.columns.nullableTexts('anchor');
    const valid = this.columns.flags('action_valid');
    const kept = this.columns.numbers('kept_prefix_tokens');
    const temperature = this.columns.nullableNumbers('temperature');
    const isGreedy = this.columns.flags('greedy');
    const steps = new Int32Array(rows.length);
    const rewards = new Float64Array(rows.length);
    const anchors: (string | null)[] = [];
    const actionValid = new Uint8Array(rows.length);
    const keptPrefixTokens = new Int32Array(rows.length);
    const temperatures = new Float32Array(rows.length);
    const greedy = new Uint8Array(rows.length);
    // One loop: `from` with a function a column takes ten times as long.
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      steps[i] = this.seqs[row] - 1;
      rewards[i] = reward.isValid[row] === 1 ? reward.values[row] : NaN;
      anchors.push(anchor[row]);
      actionValid[i] = valid[row];
      keptPrefixTokens[i] = kept[row];
      temperatures[i] = temperature.isValid[row] === 1 ? temperature.values[row] : NaN;
      greedy[i] = isGreedy[row];
    }
    return { steps, rewards, anchors, actionValid, keptPrefixTokens, temperatures, greedy };
  }

  private locate(episodeId: string): EpisodePlace {
    const found = this.find(episodeId);
    if (found.kind === 'whole') return found;
    const message = `Episode ${episodeId} is incomplete in the store: ${found.missing}; the sink has not written it yet`;
    throw new StoreError('NOT_YET_VISIBLE', message, { retriable: true });
  }

  /** Finds the rows of an episode, or which of its events is missing. */
  find(episodeId: string): EpisodePlace | IncompleteEpisode {
    const range = this.ranges.get(episodeId);
    if (range === undefined) return incomplete('it has no events');
    const { first } = range;
    if (this.kinds[first] !== STARTED) return incomplete('its start is missing');
    const ended = this.firstEnd(range);
    if (ended === null) return incomplete('its end is missing');
    const numSteps = this.numSteps[ended];
    for (let step = 0; step < numSteps; step++) {
      const row = first + 1 + step;
      if (row >= range.end || this.seqs[row] !== step + 1 || this.kinds[row] !== STEP)
        return incomplete(`step ${step} of ${numSteps} is missing`);
    }
    return { kind: 'whole', started: first, firstStep: first + 1, numSteps, ended };
  }

  /** The row of the end that came first in the log: the episode holds nothing after it. */
  private firstEnd({ first, end }: { readonly first: number; readonly end: number }): number | null {
    let firstEnd: number | null = null;
    for (let row = first; row < end; row++) {
      if (this.kinds[row] !== ENDED) continue;
      if (firstEnd === null || this.logOffsets[row] < this.logOffsets[firstEnd]) firstEnd = row;
    }
    return firstEnd;
  }
}

function incomplete(missing: string): IncompleteEpisode {
  return { kind: 'incomplete', missing };
}

function computeOffsets(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i] + length;
  });
  return offsets;
}

/** Makes the masks of the rows, one after the other: zeros, then a one for each action token of the row. */
function computeMasks(
  numActionTokens: FlatNumbers,
  rows: ArrayLike<number>,
  tokenOffsets: Int32Array,
): Uint8Array {
  const masks = new Uint8Array(tokenOffsets[rows.length]);
  for (let i = 0; i < rows.length; i++) {
    const end = tokenOffsets[i + 1];
    masks.fill(1, end - numActionTokens[rows[i]], end);
  }
  return masks;
}

/** Repeats the version of each row whose tokens share one version, so that every token has its own. */
function spread(
  { offsets, values }: { readonly offsets: Int32Array; readonly values: Int32Array },
  tokenOffsets: Int32Array,
): Int32Array {
  const numRows = offsets.length - 1;
  if (offsets[numRows] === tokenOffsets[numRows]) return values;
  const versions = new Int32Array(tokenOffsets[numRows]);
  for (let row = 0; row < numRows; row++) {
    const numVersions = offsets[row + 1] - offsets[row];
    if (numVersions === 1) versions.fill(values[offsets[row]], tokenOffsets[row], tokenOffsets[row + 1]);
    else versions.set(values.subarray(offsets[row], offsets[row + 1]), tokenOffsets[row]);
  }
  return versions;
}
