/** A question about recorded updates, as the API sends it to the process that computes the answer. */
export type UpdateQuestion = WhatIfQuestion | ReplayQuestion | BatchQuestion;

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

/** A group of a batch, with its episodes that are in it. */
export interface BatchGroup {
  readonly groupId: string;
  readonly episodeIds: readonly string[];
}

/** The question for a batch that another trainer can train on; the answer is a `WrittenBatch`. */
export interface BatchQuestion {
  readonly kind: 'batch';
  readonly runId: string;
  /** A committed update, whose episodes the batch has; null: those of `groups`. */
  readonly updateNumber: number | null;
  readonly groups: readonly BatchGroup[];
  /** Of what is drawn at random in a batch of `groups`. */
  readonly seed: number;
  /** Fields of the recipe that are other: `path.to.field=value`. */
  readonly assignments: readonly string[];
  /** Name or hash of the reward version whose stored scores are the rewards; null: those of the recipe. */
  readonly rewardVersion: string | null;
  /** That the tokens of a recorded run were sampled at; null for a run that has a recipe. */
  readonly temperature: number | null;
  /** The file that the batch is written to. */
  readonly file: string;
}

/** A batch that was written: rows in Arrow's stream format, one a sequence. */
export interface WrittenBatch {
  readonly numSequences: number;
  readonly numTokens: number;
}

/** A message of that process, over Node's IPC channel as JSON, in which NaN is null. */
export type UpdateAnswerMessage =
  /** These updates are made again first, to get to the state that the first one starts from. */
  | { readonly type: 'recomputing'; readonly from: number; readonly to: number }
  | { readonly type: 'answered'; readonly answer: object }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };
