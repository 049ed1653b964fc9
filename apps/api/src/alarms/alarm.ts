import type { AnyEvent, WarningRaised } from '@retrace/trajectory';

/** An alarm, or that a run failed: a person should look at it. */
export interface Alarm extends Pick<WarningRaised, 'source' | 'step' | 'message' | 'numTimes' | 'advice'> {
  /** Null: of a process that belongs to no run. */
  readonly runId: string | null;
  /** Name of the monitor whose rule is broken, `runFailed`, or `alarm` where no rule is named. */
  readonly name: string;
  readonly raisedAtMs: number;
}

/** Kinds of the events that may raise an alarm. */
export const ALARM_KINDS: ReadonlySet<string> = new Set<AnyEvent['kind']>(['WarningRaised', 'RunEnded']);

/** The alarm that an event raises; null for the others. */
export function alarmOf(event: AnyEvent): Alarm | null {
  const { runId, occurredAtUs } = event;
  const common = { runId: runId === '' ? null : runId, raisedAtMs: Math.floor(occurredAtUs / 1000) };
  if (event.kind === 'WarningRaised' && event.payload.severity === 'alarm') {
    const { source, step, message, numTimes, rule, advice } = event.payload;
    return { ...common, name: rule === '' ? 'alarm' : rule, source, step, message, numTimes, advice };
  }
  // Of plays and recorded runs; where a run is trained, its supervisor raises the alarm.
  if (event.kind === 'RunEnded' && event.payload.reason === 'failed') {
    const { detail } = event.payload;
    const message = detail === '' ? 'the run failed' : `the run failed: ${detail}`;
    return { ...common, name: 'runFailed', source: 'system', step: null, message, numTimes: 1, advice: '' };
  }
  return null;
}
