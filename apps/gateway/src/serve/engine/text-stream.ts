import type { FinishedTurn, Tokenizer } from '@retrace/policy';

interface TextOptions {
  readonly stopStrings: readonly string[];
  /** Whether the text keeps the stop string or stop token that ended it. */
  readonly includesStop: boolean;
  readonly skipsSpecialTokens: boolean;
}

/** A character has at most 4 bytes; after more tokens that make no character, none will come. */
const MAX_OPEN_TOKENS = 8;
const INCOMPLETE = '\uFFFD';

/** Turns tokens into text as they come. Text that may yet change, or be part of a stop string, is held back. */
export class TextStream {
  /** The stop string that ended the text. */
  matchedStop: string | null = null;
  private tokenIds: number[] = [];
  /** Tokens whose text was taken. Those before are decoded again with new ones, as a token's text may depend on the one before it. */
  private numTaken = 0;
  private held = '';

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly options: TextOptions,
  ) {}

  /** Adds tokens; returns text that is final. */
  push(tokenIds: Int32Array, stopReason: FinishedTurn['stopReason'] | null): string {
    const isHidden = stopReason === 'stop' && !this.options.includesStop;
    this.tokenIds.push(...(isHidden ? tokenIds.subarray(0, -1) : tokenIds));
    this.take(stopReason !== null);
    if (stopReason === 'stopString') return this.cut();
    const numHeld = stopReason === null ? this.lengthOfPossibleStop() : 0;
    const final = this.held.slice(0, this.held.length - numHeld);
    this.held = this.held.slice(final.length);
    return final;
  }

  private take(isLast: boolean): void {
    const all = this.decode(this.tokenIds);
    const isOpen = all.endsWith(INCOMPLETE) && this.tokenIds.length - this.numTaken <= MAX_OPEN_TOKENS;
    if (isOpen && !isLast) return;
    const added = all.slice(this.decode(this.tokenIds.slice(0, this.numTaken)).length);
    this.held += added;
    // Tokens without a text tell nothing of those that follow.
    if (added !== '') this.tokenIds = this.tokenIds.slice(this.numTaken);
    this.numTaken = this.tokenIds.length;
  }

  private decode(tokenIds: readonly number[]): string {
    return this.tokenizer.decode(tokenIds, { skipSpecialTokens: this.options.skipsSpecialTokens });
  }

  private cut(): string {
    const found = this.options.stopStrings
      .map((stop) => ({ stop, at: this.held.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
    if (found.length === 0) return this.held;
    const [{ stop, at }] = found;
    this.matchedStop = stop;
    return this.held.slice(0, this.options.includesStop ? at + stop.length : at);
  }

  /** Length of the longest end of the held text that begins a stop string. */
  private lengthOfPossibleStop(): number {
    return Math.max(0, ...this.options.stopStrings.map((stop) => lengthOfBeginning(this.held, stop)));
  }
}

/** Length of the longest end of a text that is the beginning of another, but not all of it. */
export function lengthOfBeginning(text: string, other: string): number {
  for (let length = Math.min(text.length, other.length - 1); length > 0; length--) {
    if (text.endsWith(other.slice(0, length))) return length;
  }
  return 0;
}
