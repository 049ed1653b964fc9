import {
  finiteNumber,
  integerAtLeast,
  listOf,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  type PayloadsOf,
  text,
  type ValuesOf,
} from '../fields/field.js';
import { split } from './episode-events.js';

/** Chance that one of k attempts at a task succeeds, averaged over the tasks with at least k attempts of known outcome. */
const passAtK = objectOf({ k: integerAtLeast(1), pass: numberBetween(0, 1), numTasks: integerAtLeast(0) });

/** How episodes of some tasks went. */
const outcomeFields = {
  numTasks: integerAtLeast(0),
  /** Episodes with a known outcome, which the success rate is of. */
  numEpisodes: integerAtLeast(0),
  numSuccesses: integerAtLeast(0),
  /** Ended episodes whose outcome the environment does not tell. */
  numUnknown: integerAtLeast(0),
  /** Episodes in which the environment, the agent or the model's server failed; part of no other figure. */
  numFailed: integerAtLeast(0),
  /** null = no episode has a known outcome. */
  successRate: nullable(numberBetween(0, 1)),
  /** 95 %: Wilson's interval of the effective episodes, as `successRate` of the algorithms says. */
  successLow: numberBetween(0, 1),
  successHigh: numberBetween(0, 1),
  /** Mean over the tasks with at least k attempts. */
  passAtK: listOf(passAtK),
  /** null = unknown. */
  meanReturn: nullable(finiteNumber),
};

/** Figures of the episodes of one decoding, over all tasks or over those of one family. */
const row = objectOf({
  /** `greedy`: one episode of each task with the likeliest tokens; `sampled`: several of each task at the validation's temperature. */
  decoding: oneOf('greedy', 'sampled'),
  /** Family of the tasks; null for all of them. */
  family: nullable(text),
  ...outcomeFields,
});

/** The fields of the events of validations. */
export const VALIDATION_EVENTS = {
  /**
   * A published policy was measured on a split. Appended together with the `GroupsClosed` of its episodes, so that a validation is in the log
   * with all its episodes or not at all. The first of a policy version and split counts.
   */
  PolicyValidated: {
    policyVersion: integerAtLeast(0).in('policy_version'),
    /** Update that made the version. */
    updateNumber: integerAtLeast(0).in('update_number'),
    split: split.in('split'),
    /** How long its episodes took to play. */
    seconds: numberAtLeast(0),
    /** All tasks first, then the families where there are several. */
    rows: listOf(row),
  },
};

export type PolicyValidated = PayloadsOf<typeof VALIDATION_EVENTS>['PolicyValidated'];
export type OutcomeFigures = ValuesOf<typeof outcomeFields>;
export type ValidationRow = (typeof row)['value'];
