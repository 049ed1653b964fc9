/** One turn to generate: the context of a slot is cut to a prefix, extended, and continued by the model. */
export interface TurnRequest {
  /** 0 … maxSlots − 1; a slot holds one episode's context and runs one turn at a time. */
  readonly slot: number;
  /** How many tokens of the slot's context (prompt and sampled tokens of earlier turns) are kept; 0 starts afresh. */
  readonly keptPrefixTokens: number;
  /** Observation and template tokens that follow the kept prefix. */
  readonly tokenIds: Int32Array;
  /** Logits are divided by this before sampling. */
  readonly temperature: number;
  /** Sample among the likeliest so many tokens alone; 0 (default): all. */
  readonly topK?: number;
  /** Sample among the fewest likeliest tokens whose probabilities (after `topK`) reach this; 1 (default): all. */
  readonly topP?: number;
  /** Take the most likely token instead of sampling. */
  readonly greedy: boolean;
  readonly maxNewTokens: number;
  /** Sampling one of these ends the turn; it is part of the result. */
  readonly stopTokenIds: readonly number[];
  /**
   * The turn ends as soon as its text has one of these in it (default none). The tokens that spell it are part of the result.
   * Needs `decode` of the generator's options.
   */
  readonly stopStrings?: readonly string[];
  /**
   * The uniform number behind a token depends on this seed and the token's place in the context alone. Turns that
   * put their actions at equal places (as with a fresh context for each) need seeds of their own.
   */
  readonly samplingSeed: number;
}

/** A generated turn; the columns are equally long, one value per sampled token. */
export interface FinishedTurn {
  readonly slot: number;
  readonly tokenIds: Int32Array;
  /** log π of each token under the distribution that was sampled from (after temperature and cuts), in nats. */
  readonly logprobs: Float32Array;
  /** log π before temperature and cuts. */
  readonly rawLogprobs: Float32Array;
  /** Entropy of the distribution that was sampled from, in nats. */
  readonly entropies: Float32Array;
  /** The policy version whose weights chose each token. */
  readonly policyVersions: Int32Array;
  /** `stop`: a stop token was sampled; `stopString`: the text has a stop string in it. */
  readonly stopReason: 'stop' | 'stopString' | 'length';
}

/** The text of sampled tokens. */
export type Decode = (tokenIds: Int32Array) => string;

/** The columns of a turn in progress. */
export class LiveTurn {
  private readonly tokenIds: Int32Array;
  private readonly logprobs: Float32Array;
  private readonly rawLogprobs: Float32Array;
  private readonly entropies: Float32Array;
  private readonly policyVersions: Int32Array;
  private numTokens = 0;

  constructor(
    readonly request: TurnRequest,
    private readonly decode: Decode | null,
  ) {
    this.tokenIds = new Int32Array(request.maxNewTokens);
    this.logprobs = new Float32Array(request.maxNewTokens);
    this.rawLogprobs = new Float32Array(request.maxNewTokens);
    this.entropies = new Float32Array(request.maxNewTokens);
    this.policyVersions = new Int32Array(request.maxNewTokens);
  }

  /** Whether the turn needs one forward pass over a fresh context, and nothing of it will be asked for in this turn again. */
  get isSingleShot(): boolean {
    return this.request.keptPrefixTokens === 0 && this.request.maxNewTokens === 1;
  }

  /** Adds a token; the finished turn, if that was its last. */
  append(token: SampledToken, policyVersion: number): FinishedTurn | null {
    const n = this.numTokens++;
    this.tokenIds[n] = token.tokenId;
    this.logprobs[n] = token.logprob;
    this.rawLogprobs[n] = token.rawLogprob;
    this.entropies[n] = token.entropy;
    this.policyVersions[n] = policyVersion;
    const stopped = this.request.stopTokenIds.includes(token.tokenId);
    const spelled = !stopped && this.hasStopString();
    if (!stopped && !spelled && this.numTokens < this.request.maxNewTokens) return null;
    const end = this.numTokens;
    return {
      slot: this.request.slot,
      tokenIds: this.tokenIds.subarray(0, end),
      logprobs: this.logprobs.subarray(0, end),
      rawLogprobs: this.rawLogprobs.subarray(0, end),
      entropies: this.entropies.subarray(0, end),
      policyVersions: this.policyVersions.subarray(0, end),
      stopReason: stopped ? 'stop' : spelled ? 'stopString' : 'length',
    };
  }

  private hasStopString(): boolean {
    const { stopStrings = [] } = this.request;
    if (stopStrings.length === 0 || this.decode === null) return false;
    const text = this.decode(this.tokenIds.subarray(0, this.numTokens));
    return stopStrings.some((stopString) => text.includes(stopString));
  }
}

export interface SampledToken {
  readonly tokenId: number;
  readonly logprob: number;
  readonly rawLogprob: number;
  readonly entropy: number;
}
