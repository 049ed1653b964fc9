import { assertConsistentColumns, inconsistent } from './consistent-columns.js';
import { END_REASONS, type EpisodeColumns } from './episode-columns.js';

/**
 * The tokens of a batch of episodes, ready for a forward pass: episode → sequence → token, flat.
 *
 * A sequence is a stretch of context that grew by appending only; an episode has one, or more where its prompt dropped
 * tokens (history windows, stripped thoughts). E episodes, S sequences, N tokens, A trained action tokens.
 */
export interface TokenBatch {
  readonly numEpisodes: number;
  /** [N] */
  readonly tokenIds: Int32Array;
  /** [N] 1 = sampled by the policy and trained here. 0 for observation tokens, and for action tokens copied in a prefix. */
  readonly actionMask: Uint8Array;
  /** [N] Behavior logprobs, nats, where `actionMask` is 1 (NaN = missing); 0 elsewhere. */
  readonly behaviorLogprobs: Float32Array;
  /** [N] Policy version of every token; −1 = no policy of this run. */
  readonly policyVersions: Int32Array;
  /** [S + 1] into the token level. */
  readonly sequenceOffsets: Int32Array;
  /** [E + 1] into the sequence level. */
  readonly episodeSequenceOffsets: Int32Array;
  /** [A] Position in [0, N) of each trained action token, episode by episode, in time order. */
  readonly actionTokens: Int32Array;
  /** [A] The step, counted inside its episode, that sampled it. */
  readonly actionStep: Int32Array;
  /** [E + 1] into `actionTokens`. */
  readonly episodeActionOffsets: Int32Array;
  /** Prompt of the final observation, for V(s_T): one row an episode, empty where the environment terminated it. */
  readonly finalSequences: FinalSequences;
}

export interface FinalSequences {
  readonly tokenIds: Int32Array;
  /** [E + 1] into `tokenIds`. */
  readonly sequenceOffsets: Int32Array;
}

const TERMINATED = END_REASONS.indexOf('terminated');

/**
 * Rebuilds the sequences of episodes from the tokens that each step appended.
 *
 * With c tokens of context so far, a step that kept all c continues the sequence; one that kept k < c starts a new
 * sequence with the first k tokens of the context, copied and not trained again. Token ids are never re-tokenized.
 *
 * No episodes give an empty batch; an episode without tokens has no sequence; a sequence may hold no trained token.
 *
 * @throws TrajectoryError `INCONSISTENT_COLUMNS` when lengths or offsets disagree, a step keeps more tokens than there are,
 *   or an action token would be the first of its sequence (there is no prefix to compute its logprob from)
 */
export function buildTokenBatch(columns: EpisodeColumns): TokenBatch {
  assertConsistentColumns(columns);
  const builder = new BatchBuilder(columns, countBatch(columns));
  for (let episode = 0; episode < columns.episodeIds.length; episode += 1) builder.addEpisode(episode);
  return builder.batch;
}

interface BatchSize {
  readonly numTokens: number;
  readonly numSequences: number;
  readonly numActionTokens: number;
  readonly numFinalTokens: number;
}

/** Follows the contexts without copying tokens, and refuses columns that can't be built. */
function countBatch(columns: EpisodeColumns): BatchSize {
  const { stepOffsets, tokenOffsets, keptPrefixTokens, actionMask } = columns;
  let numTokens = 0;
  let numSequences = 0;
  let numFinalTokens = 0;
  for (let episode = 0; episode < columns.episodeIds.length; episode += 1) {
    let context = 0;
    for (let row = stepOffsets[episode]; row < stepOffsets[episode + 1]; row += 1) {
      const kept = keptPrefixTokens[row];
      const step = row - stepOffsets[episode];
      requireKept(columns.episodeIds[episode], `keptPrefixTokens of step ${step}`, kept, context);
      const appended = tokenOffsets[row + 1] - tokenOffsets[row];
      if (kept === 0 && appended > 0 && actionMask[tokenOffsets[row]] === 1) {
        throw inconsistent(
          `step ${step} of episode ${columns.episodeIds[episode]} starts a sequence with an action token; ` +
            'must start it with at least one observation token',
        );
      }
      const startsSequence = kept < context || context === 0;
      if (startsSequence && kept + appended > 0) numSequences += 1;
      numTokens += (kept < context ? kept : 0) + appended;
      context = kept + appended;
    }
    const kept = columns.finalKeptPrefixTokens[episode];
    requireKept(columns.episodeIds[episode], 'finalKeptPrefixTokens', kept, context);
    numFinalTokens += finalLength(columns, episode);
  }
  let numActionTokens = 0;
  for (const sampled of actionMask) numActionTokens += sampled;
  return { numTokens, numSequences, numActionTokens, numFinalTokens };
}

function requireKept(episodeId: string, name: string, kept: number, context: number): void {
  if (kept >= 0 && kept <= context) return;
  throw inconsistent(
    `${name} of episode ${episodeId} is ${kept}; must be from 0 to ${context}, its context so far`,
  );
}

/** Tokens of the final observation's prompt; 0 when terminated, because nothing is bootstrapped then. */
function finalLength(columns: EpisodeColumns, episode: number): number {
  if (columns.endReasons[episode] === TERMINATED) return 0;
  const appended = columns.finalTokenOffsets[episode + 1] - columns.finalTokenOffsets[episode];
  return columns.finalKeptPrefixTokens[episode] + appended;
}

class BatchBuilder {
  readonly batch: TokenBatch;
  private numTokens = 0;
  private numSequences = 0;
  private numActionTokens = 0;
  private numFinalTokens = 0;
  /** Where the current episode's context, its last sequence, starts. */
  private contextFrom = 0;

  constructor(
    private readonly columns: EpisodeColumns,
    size: BatchSize,
  ) {
    const numEpisodes = columns.episodeIds.length;
    this.batch = {
      numEpisodes,
      tokenIds: new Int32Array(size.numTokens),
      actionMask: new Uint8Array(size.numTokens),
      behaviorLogprobs: new Float32Array(size.numTokens),
      policyVersions: new Int32Array(size.numTokens),
      sequenceOffsets: new Int32Array(size.numSequences + 1),
      episodeSequenceOffsets: new Int32Array(numEpisodes + 1),
      actionTokens: new Int32Array(size.numActionTokens),
      actionStep: new Int32Array(size.numActionTokens),
      episodeActionOffsets: new Int32Array(numEpisodes + 1),
      finalSequences: {
        tokenIds: new Int32Array(size.numFinalTokens),
        sequenceOffsets: new Int32Array(numEpisodes + 1),
      },
    };
  }

  addEpisode(episode: number): void {
    const { stepOffsets } = this.columns;
    this.contextFrom = this.numTokens;
    for (let row = stepOffsets[episode]; row < stepOffsets[episode + 1]; row += 1) {
      this.continueFrom(this.columns.keptPrefixTokens[row]);
      this.appendStep(row, row - stepOffsets[episode]);
    }
    this.closeSequence();
    this.addFinalSequence(episode);
    this.batch.episodeSequenceOffsets[episode + 1] = this.numSequences;
    this.batch.episodeActionOffsets[episode + 1] = this.numActionTokens;
  }

  /** Starts a new sequence with a copy of the kept prefix, unless all of the context is kept. */
  private continueFrom(kept: number): void {
    const from = this.contextFrom;
    if (kept === this.numTokens - from) return;
    this.closeSequence();
    const to = this.numTokens;
    this.batch.tokenIds.copyWithin(to, from, from + kept);
    this.batch.policyVersions.copyWithin(to, from, from + kept);
    this.contextFrom = to;
    this.numTokens = to + kept;
  }

  private appendStep(row: number, step: number): void {
    const { tokenOffsets, tokenIds, actionMask, tokenLogprobs, tokenPolicyVersions } = this.columns;
    const { batch } = this;
    const from = tokenOffsets[row];
    const end = tokenOffsets[row + 1];
    const to = this.numTokens;
    batch.tokenIds.set(tokenIds.subarray(from, end), to);
    batch.actionMask.set(actionMask.subarray(from, end), to);
    batch.policyVersions.set(tokenPolicyVersions.subarray(from, end), to);
    for (let t = from; t < end; t += 1) {
      if (actionMask[t] === 0) continue;
      const n = to + t - from;
      batch.behaviorLogprobs[n] = tokenLogprobs[t];
      batch.actionTokens[this.numActionTokens] = n;
      batch.actionStep[this.numActionTokens] = step;
      this.numActionTokens += 1;
    }
    this.numTokens = to + end - from;
  }

  private closeSequence(): void {
    if (this.numTokens === this.contextFrom) return;
    this.numSequences += 1;
    this.batch.sequenceOffsets[this.numSequences] = this.numTokens;
  }

  private addFinalSequence(episode: number): void {
    const { finalTokenIds, finalTokenOffsets, finalKeptPrefixTokens } = this.columns;
    const { tokenIds, sequenceOffsets } = this.batch.finalSequences;
    if (finalLength(this.columns, episode) > 0) {
      const kept = finalKeptPrefixTokens[episode];
      const from = this.contextFrom;
      tokenIds.set(this.batch.tokenIds.subarray(from, from + kept), this.numFinalTokens);
      const appended = finalTokenIds.subarray(finalTokenOffsets[episode], finalTokenOffsets[episode + 1]);
      tokenIds.set(appended, this.numFinalTokens + kept);
      this.numFinalTokens += kept + appended.length;
    }
    sequenceOffsets[episode + 1] = this.numFinalTokens;
  }
}
