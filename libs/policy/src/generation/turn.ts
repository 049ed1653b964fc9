/** One turn to generate: the context of a slot is cut to a prefix, extended, and continued by the model. */
export interface TurnRequest {
  /** 0 … maxSlots − 1; a slot holds one episode's context and runs one turn at a time. */
  readonly slot: number;
  /** How many tokens of the slot's context (prompt and sampled tokens of earlier turns) are kept; 0 starts a new context. */
  readonly keptPrefixTokens: number;
  /** Observation and template tokens that follow the kept prefix. */
  readonly tokenIds: Int32Array;
  /** Logits are divided by this before sampling. */
  readonly temperature: number;
  /** Sample only among this many most likely tokens; 0 (default): all. */
  readonly topK?: number;
  /** Sample only among the fewest most likely tokens whose probabilities (after `topK`) add up to this; 1 (default): all. */
  readonly topP?: number;
  /** Take the most likely token instead of sampling. */
  readonly greedy: boolean;
  readonly maxNewTokens: number;
  /** Sampling one of these ends the turn; it is part of the result. */
  readonly stopTokenIds: readonly number[];
  /**
   * The turn ends as soon as its text contains one of these (default none). The tokens that spell it are part of the result.
   * Requires `GeneratorOptions.decode`.
   */
  readonly stopStrings?: readonly string[];
  /** Reports this many of the likeliest tokens at each position (default 0), which costs a pass over the vocabulary. */
  readonly numLikeliest?: number;
  /**
   * The uniform number behind a token depends only on this seed and the token's position in the context. Turns that
   * sample at the same positions (as in a fresh context each) need different seeds.
   */
  readonly samplingSeed: number;
}

/** A generated turn. */
export interface FinishedTurn extends TurnColumns {
  readonly slot: number;
  /** `stop`: a stop token was sampled; `stopString`: the text has a stop string in it. */
  readonly stopReason: 'stop' | 'stopString' | 'length';
}

/** The sampled tokens of a turn; all columns have one value per token. */
export interface TurnColumns {
  readonly tokenIds: Int32Array;
  /** log π of each token under the distribution that was sampled from (after temperature and cuts), in nats. */
  readonly logprobs: Float32Array;
  /** log π before temperature and cuts. */
  readonly rawLogprobs: Float32Array;
  /** Entropy of the distribution that was sampled from, in nats. */
  readonly entropies: Float32Array;
  /** The policy version whose weights chose each token. */
  readonly policyVersions: Int32Array;
  /** The likeliest tokens at each position, likeliest first; null unless `TurnRequest.numLikeliest` asks for them. */
  readonly likeliest: readonly (readonly LikelyToken[])[] | null;
}

export interface LikelyToken {
  readonly tokenId: number;
  /** log π before temperature and cuts, or after them with `GeneratorOptions.likeliestAfterTemperature`. */
  readonly logprob: number;
}

/** Decodes sampled tokens into text. */
export type Decode = (tokenIds: Int32Array) => string;

/** A turn in progress. */
export class LiveTurn {
  /** Allocated for `maxNewTokens`. */
  private readonly columns: Omit<TurnColumns, 'likeliest'>;
  private readonly likeliest: (readonly LikelyToken[])[] | null;
  private numTokens = 0;

  constructor(
    readonly request: TurnRequest,
    private readonly decode: Decode | null,
  ) {
    const { maxNewTokens, numLikeliest = 0 } = request;
    this.likeliest = numLikeliest > 0 ? [] : null;
    this.columns = {
      tokenIds: new Int32Array(maxNewTokens),
      logprobs: new Float32Array(maxNewTokens),
      rawLogprobs: new Float32Array(maxNewTokens),
      entropies: new Float32Array(maxNewTokens),
      policyVersions: new Int32Array(maxNewTokens),
    };
  }

  /** Whether the turn is one forward pass over a fresh context, after which nothing of it is needed again. */
  get isSingleShot(): boolean {
    return this.request.keptPrefixTokens === 0 && this.request.maxNewTokens === 1;
  }

  /** Adds a token; returns the finished turn if it was the last, else null. */
  append(token: SampledToken, policyVersion: number): FinishedTurn | null {
    const n = this.numTokens++;
    const { tokenIds, logprobs, rawLogprobs, entropies, policyVersions } = this.columns;
    this.likeliest?.push(token.likeliest);
    tokenIds[n] = token.tokenId;
    logprobs[n] = token.logprob;
    rawLogprobs[n] = token.rawLogprob;
    entropies[n] = token.entropy;
    policyVersions[n] = policyVersion;
    const stopped = this.request.stopTokenIds.includes(token.tokenId);
    const spelled = !stopped && this.hasStopString();
    if (!stopped && !spelled && this.numTokens < this.request.maxNewTokens) return null;
    return {
      slot: this.request.slot,
      ...this.sampled,
      stopReason: stopped ? 'stop' : spelled ? 'stopString' : 'length',
    };
  }

  /** The tokens that are sampled so far, as views. */
  get sampled(): TurnColumns {
    const { tokenIds, logprobs, rawLogprobs, entropies, policyVersions } = this.columns;
    const end = this.numTokens;
    return {
      tokenIds: tokenIds.subarray(0, end),
      logprobs: logprobs.subarray(0, end),
      rawLogprobs: rawLogprobs.subarray(0, end),
      entropies: entropies.subarray(0, end),
      policyVersions: policyVersions.subarray(0, end),
      likeliest: this.likeliest,
    };
  }

  private hasStopString(): boolean {
    const { stopStrings = [] } = this.request;
    if (stopStrings.length === 0 || this.decode === null) return false;
    const text = this.decode(this.columns.tokenIds.subarray(0, this.numTokens));
    return stopStrings.some((stopString) => text.includes(stopString));
  }
}

export interface SampledToken {
  readonly tokenId: number;
  readonly logprob: number;
  readonly rawLogprob: number;
  readonly entropy: number;
  /** [] unless the turn asks for them. */
  readonly likeliest: readonly LikelyToken[];
}
