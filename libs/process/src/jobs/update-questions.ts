/** A question about recorded updates, as the API sends it to the process that computes the answer. */
export type UpdateQuestion = WhatIfQuestion | ReplayQuestion;

/** The question what recorded updates would have been; each of them is an answer, a `WhatIfUpdate` of the trainer. */
export interface WhatIfQuestion {
  readonly kind: 'whatIf';
  readonly runId: string;
  /** The updates from … to, both included. */
  readonly from: number;
  readonly to: number;
  /** Fields of the recipe that are other: `path.to.field=value`. */
  readonly assignments: readonly string[];
  /** Name or hash of the reward version whose stored scores are the rewards; null: those of the recipe. */
  readonly rewardVersion: string | null;
  /** Whether the answer lists every action token. */
  readonly withTokens: boolean;
}

/** The question whether a recorded update gives the same when it is made again; the answer is a `ReplayResult` of the trainer. */
export interface ReplayQuestion {
  readonly kind: 'replay';
  readonly runId: string;
  readonly updateNumber: number;
}

/** A message of that process, over Node's IPC channel as JSON, in which NaN is null. */
export type UpdateAnswerMessage =
  /** These updates are made again first, to get to the state that the first one starts from. */
  | { readonly type: 'recomputing'; readonly from: number; readonly to: number }
  | { readonly type: 'answered'; readonly answer: object }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };
