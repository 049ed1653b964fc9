import {
  integerAtLeast,
  listOf,
  nonEmptyText,
  nullable,
  oneOf,
  type PayloadsOf,
  text,
  uuid,
} from '../fields/field.js';
import { marked } from '../fields/kind-marks.js';

/** Processes that warn. */
export const WARNING_SOURCES = [
  'trainer',
  'collector',
  'validator',
  'sink',
  'api',
  'store',
  'system',
] as const;

const warningSource = oneOf(...WARNING_SOURCES);

/** The fields of the events of warnings and alarms. */
export const WARNING_EVENTS = {
  /** Something that a person should know and that did not end the process. It changes no state of a run. */
  WarningRaised: marked(['runless'], {
    /** Who warns; `system` is the supervisor. */
    source: warningSource.in('source'),
    /** `alarm`: the run does not do what it is for, as when an update trained on nothing. */
    severity: oneOf('warning', 'alarm'),
    /** Update (trainer) or round (collector) that it belongs to; null where it belongs to none. */
    step: nullable(integerAtLeast(0)),
    message: nonEmptyText,
    /** How often its process has said this so far, this time included. Not every repetition is an event. */
    numTimes: integerAtLeast(1),
    /** Name of the monitor whose rule is broken; `''` for other warnings. */
    rule: text.sinceAndStated(2, ''),
    /** A step to take next; `''` where there is none. */
    advice: text.sinceAndStated(2, ''),
    /** Episodes to look at first; empty where no single episode is concerned. */
    episodeIds: listOf(uuid).sinceAndStated(2, []),
  }),

  /**
   * A person has seen an alarm of the event's run, or of a process of no run: this occurrence of it calls nobody any more. It names the alarm as it is told
   * apart from others (`alarmKey`); what was raised before in log order is acknowledged.
   */
  AlarmAcknowledged: marked(['remark', 'runless'], {
    /** Name of the monitor whose rule is broken, or `runFailed`; `''` for other alarms. */
    rule: text,
    /** Process that raised it. */
    alarmSource: warningSource,
    /** Text of an alarm without a rule, which may differ in its numbers; `''` where the rule names the alarm. */
    message: text,
    /** Text of any length; `''` = none. */
    note: text,
    /** Who says so: the name of their key, or in the words of the caller. */
    source: text,
  }),

  /**
   * Alarms of a rule call nobody for a while, in the event's run, or without a run in all of them. Of several events for one run and rule the last in log order
   * counts, so that one with `untilUs` of its own time ends a silence.
   */
  AlarmSilenced: marked(['remark', 'runless'], {
    /** As `AlarmAcknowledged.rule`; `''`: all alarms without a rule. */
    rule: text,
    /** The silence holds before this moment, microseconds since the Unix epoch. */
    untilUs: integerAtLeast(0),
    /** Why, in words; `''` where a silence ends. */
    note: text,
    source: text,
  }),
};

export type WarningRaised = PayloadsOf<typeof WARNING_EVENTS>['WarningRaised'];
export type AlarmAcknowledged = PayloadsOf<typeof WARNING_EVENTS>['AlarmAcknowledged'];
export type AlarmSilenced = PayloadsOf<typeof WARNING_EVENTS>['AlarmSilenced'];
