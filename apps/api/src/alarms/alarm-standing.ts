import {
  readAlarmOccurrences,
  readSilences,
  silenceAt,
  type StoredSilence,
  type StoreReader,
} from '@retrace/store';
import type { Alarm, AlarmAcknowledgement } from '@retrace/trajectory';

/** An acknowledgement and a silence of an alarm. */
export interface AlarmStanding {
  /** Of the occurrence that it belongs to; null where nobody has seen that. */
  readonly acknowledgement: AlarmAcknowledgement | null;
  /** The silence that held when it was raised, or was begun since; null for none. */
  readonly silence: StoredSilence | null;
}

/** Of an alarm that nobody did anything about. */
export const UNHANDLED: AlarmStanding = { acknowledgement: null, silence: null };

/** Reads what people did about an alarm up to now, from a store that has the alarm. @throws StoreError */
export async function readStanding(
  reader: StoreReader,
  alarm: Alarm,
  signal: AbortSignal,
): Promise<AlarmStanding> {
  const { runId, raisedAtUs } = alarm;
  const [occurrencesOf, silences] = await Promise.all([
    readAlarmOccurrences(reader, [runId], signal),
    readSilences(reader, [...new Set(['', runId])], signal),
  ]);
  return {
    acknowledgement: occurrencesOf.get(runId)?.acknowledgementOf(alarm) ?? null,
    silence: silenceAt(silences, alarm, raisedAtUs),
  };
}
