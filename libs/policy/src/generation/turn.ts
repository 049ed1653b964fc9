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
  /** Take the most likely token instead of sampling. */
  readonly greedy: boolean;
  readonly maxNewTokens: number;
  /** Sampling one of these ends the turn; it is part of the result. */
  readonly stopTokenIds: readonly number[];
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
  /** log π of each token under the distribution that was sampled from (after temperature), in nats. */
  readonly logprobs: Float32Array;
  /** log π before temperature. */
  readonly rawLogprobs: Float32Array;
  /** Entropy of the distribution that was sampled from, in nats. */
  readonly entropies: Float32Array;
  /** The policy version whose weights chose each token. */
  readonly policyVersions: Int32Array;
  readonly stopReason: 'stop' | 'length';
}

/** The columns of a turn in progress. */
export class LiveTurn {
  private readonly tokenIds: Int32Array;
  private readonly logprobs: Float32Array;
  private readonly rawLogprobs: Float32Array;
  private readonly entropies: Float32Array;
  private readonly policyVersions: Int32Array;
  private numTokens = 0;

  constructor(readonly request: TurnRequest) {
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
    if (!stopped && this.numTokens < this.request.maxNewTokens) return null;
    const end = this.numTokens;
    return {
      slot: this.request.slot,
      tokenIds: this.tokenIds.subarray(0, end),
      logprobs: this.logprobs.subarray(0, end),
      rawLogprobs: this.rawLogprobs.subarray(0, end),
      entropies: this.entropies.subarray(0, end),
      policyVersions: this.policyVersions.subarray(0, end),
      stopReason: stopped ? 'stop' : 'length',
    };
  }
}

export interface SampledToken {
  readonly tokenId: number;
  readonly logprob: number;
  readonly rawLogprob: number;
  readonly entropy: number;
}
