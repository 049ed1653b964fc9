import type { AnyEvent, WarningRaised } from '@retrace/trajectory';

/** Something that a person should look at: an alarm, or that a run failed. */
export interface Alarm extends Pick<WarningRaised, 'source' | 'step' | 'message' | 'numTimes' | 'advice'> {
  /** Null: of a process that belongs to no run. */
  readonly runId: string | null;
  /** Name of the monitor whose rule is broken, `runFailed`, or `alarm` where no rule is named. */
  readonly name: string;
  readonly raisedAtMs: number;
}

/** The alarm that an event raises; null for the others. */
export function alarmOf(event: AnyEvent): Alarm | null {
  const { runId, occurredAtUs } = event;
  const common = { runId: runId === '' ? null : runId, raisedAtMs: Math.floor(occurredAtUs / 1000) };
  if (event.kind === 'WarningRaised' && event.payload.severity === 'alarm') {
    const { source, step, message, numTimes, rule, advice } = event.payload;
    return { ...common, name: rule === '' ? 'alarm' : rule, source, step, message, numTimes, advice };
  }
  if (event.kind === 'RunEnded' && event.payload.reason === 'failed') {
    const { detail, numUpdates } = event.payload;
    const message = detail === '' ? 'the run failed' : `the run failed: ${detail}`;
    return {
      ...common,
      name: 'runFailed',
      source: 'system',
      step: numUpdates,
      message,
      numTimes: 1,
      advice: '',
    };
  }
  return null;
}
