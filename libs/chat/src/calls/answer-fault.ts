/** An answer that is not as its protocol has it, which a reader of what a caller needs refuses. Readers of what is recorded never throw. */
export class AnswerFault extends Error {
  readonly code = 'MALFORMED_ANSWER';
  /** The same request may get a readable answer. */
  readonly retriable = true;

  constructor(message: string) {
    super(message);
    this.name = 'AnswerFault';
  }
}
