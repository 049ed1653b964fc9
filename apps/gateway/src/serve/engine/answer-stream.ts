import type { SampledTokens } from './answer-request.js';

/** The tokens of answers that were asked for together, as they are sampled. Read by one consumer. */
export class AnswerStream implements AsyncIterable<SampledTokens> {
  private readonly sampled: SampledTokens[] = [];
  private failure: Error | null = null;
  private wake: () => void = () => undefined;

  /** @param numLive answers that have not ended */
  constructor(private numLive: number) {}

  push(tokens: SampledTokens): void {
    this.sampled.push(tokens);
    if (tokens.stopReason !== null) this.numLive--;
    this.wake();
  }

  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  /** @throws Error that ended the answers */
  async *[Symbol.asyncIterator](): AsyncGenerator<SampledTokens> {
    for (;;) {
      while (this.sampled.length > 0) yield this.sampled.shift() as SampledTokens;
      if (this.failure) throw this.failure;
      if (this.numLive === 0) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
