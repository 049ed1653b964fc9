/** Limits of an episode; null for none. */
export interface BudgetLimits {
  readonly maxTurns: number;
  /** Prompts and turns together. */
  readonly maxEpisodeTokens: number | null;
  /** Invalid turns in a row. */
  readonly maxInvalidTurns: number | null;
}

/** Counts what an episode has used of its limits. */
export class EpisodeBudget {
  private numTurns = 0;
  private numTokens = 0;
  private numInvalid = 0;

  constructor(private readonly limits: BudgetLimits) {}

  /** Turns that were read. */
  get turns(): number {
    return this.numTurns;
  }

  takeTurn(): void {
    this.numTurns += 1;
  }

  takeTokens(numTokens: number): void {
    this.numTokens += numTokens;
  }

  takeOutcome(wasValid: boolean): void {
    this.numInvalid = wasValid ? 0 : this.numInvalid + 1;
  }

  /**
   * Why the episode ends before its next call of the model; null when it goes on.
   *
   * @param numTokens most that the call can add
   */
  reasonToEnd(numTokens: number): string | null {
    const { maxTurns, maxEpisodeTokens, maxInvalidTurns } = this.limits;
    if (maxInvalidTurns !== null && this.numInvalid >= maxInvalidTurns) {
      return `${this.numInvalid} invalid turns in a row`;
    }
    if (this.numTurns >= maxTurns) return `turn limit of the agent: ${maxTurns}`;
    if (maxEpisodeTokens !== null && this.numTokens + numTokens > maxEpisodeTokens) {
      return `token limit of the episode: ${this.numTokens} of ${maxEpisodeTokens} used, and the next turn may take ${numTokens}`;
    }
    return null;
  }
}
