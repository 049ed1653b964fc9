import type { OutcomeFigures, Split } from '@retrace/trajectory';

export interface PlayPrice {
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
}

/** Figures of one policy in one environment and split. */
export interface PlayRow extends OutcomeFigures {
  readonly policy: string;
  readonly environment: string;
  readonly split: Split;
  /** Seed that drew the tasks; null for the tasks of all seeds. */
  readonly seed: number | null;
  /** Family of the tasks; null for all families. */
  readonly family: string | null;
  /** Episodes that the interval counts: attempts at one task resemble each other. */
  readonly effectiveEpisodes: number;
  readonly meanSteps: number | null;
  /** Tokens of an episode that the model read, each time that it read them; null where they are not known. */
  readonly meanInputTokens: number | null;
  readonly meanOutputTokens: number | null;
  /** Of all episodes with known tokens, the failed ones included. */
  readonly costUsd: number | null;
}

/** Two policies on the tasks that both have played. */
export interface PlayComparison {
  readonly environment: string;
  readonly split: Split;
  readonly first: string;
  readonly second: string;
  readonly numTasks: number;
  /** Success rate of the second minus that of the first, each task counted once. */
  readonly difference: number;
  /** 95 %, by resampling tasks; null with fewer than two tasks. */
  readonly differenceLow: number | null;
  readonly differenceHigh: number | null;
  /** Tasks that only the first, or only the second, solved; null with several attempts at a task. */
  readonly numOnlyFirst: number | null;
  readonly numOnlySecond: number | null;
  /** McNemar's exact test, two-sided. */
  readonly pValue: number | null;
}

/** Episodes that were played by one policy in one environment. */
export interface PlayedRun {
  readonly runId: string;
  readonly policy: string;
  /** Which policy it was, such as `run:<id>@<version>`. */
  readonly description: string;
  readonly environment: string;
  /** Of a run that goes on with an interrupted one: episodes that were left. */
  readonly numPlanned: number;
  /** Episodes that have ended. */
  readonly numEnded: number;
  readonly greedy: boolean;
  readonly price: PlayPrice | null;
}

export interface PlayReport {
  readonly playId: string;
  readonly startedAt: string;
  /** Whether every planned episode has ended. */
  readonly isComplete: boolean;
  readonly runs: readonly PlayedRun[];
  readonly rows: readonly PlayRow[];
  readonly comparisons: readonly PlayComparison[];
}
