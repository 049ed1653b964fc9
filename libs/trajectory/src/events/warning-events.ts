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

/** Something that a person should know and that did not end the process. It changes no state of a run. */
export interface WarningRaised {
  /** Who warns; `system` is the supervisor. */
  readonly source: (typeof WARNING_SOURCES)[number];
  /** `alarm`: the run does not do what it is for, as when an update trained on nothing. */
  readonly severity: 'warning' | 'alarm';
  /** Update (trainer) or round (collector) that it belongs to; null where it belongs to none. */
  readonly step: number | null;
  readonly message: string;
  /** How often its process has said this so far, this time included. Not every repetition is an event. */
  readonly numTimes: number;
  /** Name of the monitor whose rule is broken; `''` for other warnings. Since version 2. */
  readonly rule: string;
  /** A step to take next; `''` where there is none. Since version 2. */
  readonly advice: string;
  /** Episodes to look at first; empty where no single episode is concerned. Since version 2. */
  readonly episodeIds: readonly string[];
}

/**
 * A person has seen an alarm of the event's run, or of a process of no run: this occurrence of it calls nobody any more. It names the alarm as it is told
 * apart from others (`alarmKey`); what was raised before in log order is acknowledged.
 */
export interface AlarmAcknowledged {
  /** Name of the monitor whose rule is broken, or `runFailed`; `''` for other alarms. */
  readonly rule: string;
  /** Process that raised it. */
  readonly alarmSource: WarningRaised['source'];
  /** Text of an alarm without a rule, which may differ in its numbers; `''` where the rule names the alarm. */
  readonly message: string;
  /** Text of any length; `''` = none. */
  readonly note: string;
  /** Who says so: the name of their key, or in the words of the caller. */
  readonly source: string;
}

/**
 * Alarms of a rule call nobody for a while, in the event's run, or without a run in all of them. Of several events for one run and rule the last in log order
 * counts, so that one with `untilUs` of its own time ends a silence.
 */
export interface AlarmSilenced {
  /** As `AlarmAcknowledged.rule`; `''`: all alarms without a rule. */
  readonly rule: string;
  /** The silence holds before this moment, microseconds since the Unix epoch. */
  readonly untilUs: number;
  /** Why, in words; `''` where a silence ends. */
  readonly note: string;
  readonly source: string;
}
