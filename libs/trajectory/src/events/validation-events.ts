import type { Split } from './episode-events.js';

/** Chance that one of k attempts at a task succeeds, averaged over the tasks with at least k attempts of known outcome. */
export interface PassAtK {
  readonly k: number;
  readonly pass: number;
  readonly numTasks: number;
}

/** How episodes of some tasks went. */
export interface OutcomeFigures {
  readonly numTasks: number;
  /** Episodes with a known outcome, which the success rate is of. */
  readonly numEpisodes: number;
  readonly numSuccesses: number;
  /** Ended episodes whose outcome the environment does not tell. */
  readonly numUnknown: number;
  /** Episodes in which the environment, the agent or the model's server failed; part of no other figure. */
  readonly numFailed: number;
  /** null = no episode has a known outcome. */
  readonly successRate: number | null;
  /** 95 %: Wilson's interval of the effective episodes, as `successRate` of the algorithms says. */
  readonly successLow: number;
  readonly successHigh: number;
  /** Mean over the tasks with at least k attempts. */
  readonly passAtK: readonly PassAtK[];
  /** null = unknown. */
  readonly meanReturn: number | null;
}

/** Figures of the episodes of one decoding, over all tasks or over those of one family. */
export interface ValidationRow extends OutcomeFigures {
  /** `greedy`: one episode of each task with the likeliest tokens; `sampled`: several of each task at the validation's temperature. */
  readonly decoding: 'greedy' | 'sampled';
  /** Family of the tasks; null for all of them. */
  readonly family: string | null;
}

/**
 * A published policy was measured on a split. Appended together with the `GroupsClosed` of its episodes, so that a validation is in the log
 * with all its episodes or not at all. The first of a policy version and split counts.
 */
export interface PolicyValidated {
  readonly policyVersion: number;
  /** Update that made the version. */
  readonly updateNumber: number;
  readonly split: Split;
  /** How long its episodes took to play. */
  readonly seconds: number;
  /** All tasks first, then the families where there are several. */
  readonly rows: readonly ValidationRow[];
}
