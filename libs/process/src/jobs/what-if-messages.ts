/** A question what recorded updates would have been, as the API sends it to the process that computes the answer. */
export interface WhatIfQuestion {
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

/** A message of that process, over Node's IPC channel as JSON, in which NaN is null. */
export type WhatIfMessage =
  /** These updates are made again first, to get to the state that the first one starts from. */
  | { readonly type: 'recomputing'; readonly from: number; readonly to: number }
  /** `WhatIfUpdate` of the trainer. */
  | { readonly type: 'compared'; readonly update: object }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };
