import type { AnyEvent } from '../../events/event.js';
import type { WarningRaised } from '../../events/warning-events.js';

/** An alarm, or that a run failed: a person should look at it. */
export interface Alarm extends Pick<
  WarningRaised,
  'source' | 'step' | 'message' | 'numTimes' | 'advice' | 'rule'
> {
  /** Empty: of a process that belongs to no run. */
  readonly runId: string;
  readonly raisedAtUs: number;
}

/** Kinds of the events that may raise an alarm. */
export const ALARM_KINDS: ReadonlySet<string> = new Set<AnyEvent['kind']>(['WarningRaised', 'RunEnded']);

/** Rule of the alarm that a run failed, which no monitor raises. */
export const RUN_FAILED = 'runFailed';

/** Stands for the alarms without a rule. */
const NO_RULE = 'alarm';

/** Name of the monitor whose rule is broken, `runFailed`, or `alarm` where no rule is named. */
export const nameOfRule = (rule: string): string => (rule === '' ? NO_RULE : rule);

/** The rule that has such a name; `''` for those without. */
export const ruleOfName = (name: string): string => (name === NO_RULE ? '' : name);

/** The alarm that an event raises; null for the others. */
export function toAlarm(event: AnyEvent): Alarm | null {
  const { runId, occurredAtUs } = event;
  const common = { runId, raisedAtUs: occurredAtUs };
  if (event.kind === 'WarningRaised' && event.payload.severity === 'alarm') {
    const { source, step, message, numTimes, rule, advice } = event.payload;
    return { ...common, rule, source, step, message, numTimes, advice };
  }
  // Of plays and recorded runs; where a run is trained, its supervisor raises the alarm.
  if (event.kind === 'RunEnded' && event.payload.reason === 'failed') {
    const { detail } = event.payload;
    const message = detail === '' ? 'the run failed' : `the run failed: ${detail}`;
    return { ...common, rule: RUN_FAILED, source: 'system', step: null, message, numTimes: 1, advice: '' };
  }
  return null;
}
