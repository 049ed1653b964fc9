import type { AlarmAcknowledged } from '../../events/warning-events.js';
import { type Alarm, RUN_FAILED } from './alarm.js';

/** Who has seen an occurrence of an alarm. */
export interface AlarmAcknowledgement extends Pick<AlarmAcknowledged, 'note' | 'source'> {
  readonly acknowledgedAtUs: number;
}

/** Fields by which alarms of one run are told apart. */
export type AlarmIdentity = Pick<Alarm, 'source' | 'rule' | 'message'>;

interface Occurrence {
  readonly lastRaisedAtUs: number;
  readonly acknowledgement: AlarmAcknowledgement | null;
  /** Its run has ended since, so that the next alarm is another occurrence. */
  readonly hasEnded: boolean;
}

/** An alarm that was not raised for so long is over, in microseconds: as long as Alertmanager shows one after it was sent. */
export const ALARM_HOLDS_US = 24 * 3_600_000_000;

/** Alarms of a rule are one alarm, whatever they say; others are one where their texts differ only in numbers. */
export function alarmKey({ source, rule, message }: AlarmIdentity): string {
  return `${source} ${rule} ${rule === '' ? message.replaceAll(/\d+/g, '0') : ''}`;
}

/**
 * Occurrences of the alarms of one run, or of the processes of no run; the records come in log order. An acknowledgement belongs to one occurrence. No
 * record says that an alarm is over. The next one is another occurrence
 *
 * - where the run has ended since, and goes on;
 * - after a day for each time that its process has counted since the one before: not every repetition is a record, so that more than a day of quiet is
 *   certain only then;
 * - where it is that the run failed: each failure is one of its own, since a run that failed in training has no end in the log.
 */
export class AlarmOccurrences {
  private readonly occurrences = new Map<string, Occurrence>();

  /** The end of the run; an alarm that it failed comes after it. */
  end(): void {
    for (const [key, occurrence] of this.occurrences)
      this.occurrences.set(key, { ...occurrence, hasEnded: true });
  }

  raise(alarm: AlarmIdentity & Pick<Alarm, 'raisedAtUs' | 'numTimes'>): void {
    const { raisedAtUs, numTimes } = alarm;
    const key = alarmKey(alarm);
    const before = this.occurrences.get(key);
    // Counts are powers of two: half of them are new since the record before.
    const numNew = Math.max(1, numTimes / 2);
    const goesOn =
      before !== undefined &&
      !before.hasEnded &&
      alarm.rule !== RUN_FAILED &&
      raisedAtUs - before.lastRaisedAtUs <= numNew * ALARM_HOLDS_US;
    const acknowledgement = goesOn ? before.acknowledgement : null;
    this.occurrences.set(key, { lastRaisedAtUs: raisedAtUs, acknowledgement, hasEnded: false });
  }

  /** Acknowledges the newest occurrence; does nothing for an alarm that was not raised. */
  acknowledge(alarm: AlarmIdentity, acknowledgement: AlarmAcknowledgement): void {
    const key = alarmKey(alarm);
    const occurrence = this.occurrences.get(key);
    if (occurrence !== undefined) this.occurrences.set(key, { ...occurrence, acknowledgement });
  }

  /** Whether the alarm was raised. */
  has(alarm: AlarmIdentity): boolean {
    return this.occurrences.has(alarmKey(alarm));
  }

  /** Of the newest occurrence; null where nobody has seen it. */
  acknowledgementOf(alarm: AlarmIdentity): AlarmAcknowledgement | null {
    return this.occurrences.get(alarmKey(alarm))?.acknowledgement ?? null;
  }
}
