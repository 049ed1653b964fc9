/** A request of a server, and how its answer is read. */
export interface ServerQuestion<Answer> {
  readonly body: object;
  /** Tokens of the prompt and of the longest answer; estimated for texts. */
  readonly numTokens: number;
  /** @param answer parsed JSON @throws AnswerFault */
  readonly read: (answer: unknown) => Answer;
}
