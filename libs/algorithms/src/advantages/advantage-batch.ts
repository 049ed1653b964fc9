import type { AdvantageOutput } from '../layout/output.js';

/**
 * A whole batch as advantage estimators read it: episodes over *action tokens*. Estimators see the batch before it is
 * cut into micro-batches, so that statistics of groups and of the batch do not depend on the cut.
 */
export interface AdvantageBatch {
  /** Episodes over action tokens `[E + 1]`; an episode's sequences follow one another. */
  readonly offsets: Int32Array;
  /** Reward at each action token `[N]`, after allocation, with penalties and KL. The return of an episode is their sum. */
  readonly rewards: Float32Array;
  /** Group number of each episode `[E]`, each below E. */
  readonly groupIds: Int32Array;
  /**
   * 1 for episodes to leave out `[E]`: those whose reward is missing. No statistic sees them and their advantages are 0, as
   * if they were not there; their columns are not read. Null: none.
   */
  readonly excluded?: Uint8Array | null;
  /** Critic's value of the state in which each token was chosen `[N]`. */
  readonly values?: Float32Array | null;
  /** 1 where the episode was cut by us `[E]`; null: none was. */
  readonly truncated?: Uint8Array | null;
  /** Critic's value after the last token `[E]`; read for truncated episodes. */
  readonly finalValues?: Float32Array | null;
  /** logπ of each token at the start of the update `[N]`. */
  readonly proximalLogprobs?: Float32Array | null;
  /** logπ of each token when it was sampled `[N]`. */
  readonly behaviorLogprobs?: Float32Array | null;
  /** Σ_v π_v² over the vocabulary at each token `[N]`. */
  readonly sumSquaredProbabilities?: Float32Array | null;
  /** Truncated importance weight of each token, where the update uses them `[N]`. */
  readonly importanceWeights?: Float32Array | null;
  /** Episodes over steps `[E + 1]`. */
  readonly episodeSteps?: Int32Array | null;
  /** Steps over action tokens `[K + 1]`. */
  readonly stepOffsets?: Int32Array | null;
  /** Number of the state that each step stood in, −1 for none `[K]`. */
  readonly anchors?: Int32Array | null;
  /** Return of the greedy episode of each episode's group `[E]`. */
  readonly greedyReturns?: Float32Array | null;
  /** Return of each episode in each reward component, C arrays `[E]`. */
  readonly rewardComponents?: readonly Float32Array[] | null;
  /** Weight of each reward component `[C]`. */
  readonly componentWeights?: Float32Array | null;
  /** Role or environment of each episode `[E]`. */
  readonly roleIds?: Int32Array | null;
  /** Running mean return of each role, from the checkpoint. */
  readonly roleBaselines?: Float64Array | null;
  /**
   * Arrays to write to, for callers that compute many batches; null: new ones. Read by `gae` without whitening and by the estimators with one
   * advantage an episode or a step; the others, and batches with excluded episodes, make new ones.
   */
  readonly output?: AdvantageOutput | null;
}

/** Columns `K` of a batch, none of them null. */
export type Columns<K extends keyof AdvantageBatch> = {
  readonly [P in K]-?: NonNullable<AdvantageBatch[P]>;
};
