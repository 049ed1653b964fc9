import {
  type Alarm,
  type AlarmIdentity,
  AlarmOccurrences,
  RUN_FAILED,
  type WarningRaised,
} from '@retrace/trajectory';
import type { StoreReader } from '../client/store-client.js';

/** The newest silence of a rule. */
export interface StoredSilence {
  /** Empty: of all runs. */
  readonly runId: string;
  /** Empty: of all alarms without a rule. */
  readonly rule: string;
  /** It holds before this moment, microseconds since the Unix epoch; not after `silencedAtUs` in one that was ended. */
  readonly untilUs: number;
  readonly silencedAtUs: number;
  /** Why. */
  readonly note: string;
  /** Who silenced it. */
  readonly source: string;
}

interface Row {
  readonly runId: string;
  readonly kind: 'WarningRaised' | 'RunEnded' | 'AlarmAcknowledged';
  readonly occurredAtUs: number;
  readonly alarmSource: WarningRaised['source'];
  readonly rule: string;
  readonly message: string;
  readonly numTimes: number;
  readonly hasFailed: boolean;
  readonly note: string;
  readonly acknowledgedBy: string;
}

const RECORDS = `
  SELECT
    run_id AS runId, kind, toUnixTimestamp64Micro(occurred_at) AS occurredAtUs,
    if(kind = 'WarningRaised', toString(source), JSONExtractString(payload, 'alarmSource')) AS alarmSource,
    JSONExtractString(payload, 'rule') AS rule, JSONExtractString(payload, 'message') AS message,
    JSONExtractUInt(payload, 'numTimes') AS numTimes, toBool(end_reason = 'failed') AS hasFailed,
    JSONExtractString(payload, 'note') AS note, JSONExtractString(payload, 'source') AS acknowledgedBy
  FROM events
  WHERE episode_id = '' AND run_id IN {runIds:Array(String)}
    AND (kind IN ('RunEnded', 'AlarmAcknowledged') OR kind = 'WarningRaised' AND JSONExtractString(payload, 'severity') = 'alarm')
  ORDER BY run_id, log_id, log_stream, log_partition, log_offset
  LIMIT 1 BY run_id, event_id`;

const ACKNOWLEDGED_RUNS = `SELECT DISTINCT run_id AS runId FROM events WHERE episode_id = '' AND kind = 'AlarmAcknowledged'`;

/**
 * Reads the occurrences of the alarms of runs, of which an empty id stands for processes of no run.
 *
 * @param runIds null: of all runs that have an acknowledgement
 * @throws StoreError
 */
export async function readAlarmOccurrences(
  reader: StoreReader,
  runIds: readonly string[] | null,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, AlarmOccurrences>> {
  const found = new Map<string, AlarmOccurrences>();
  const acknowledged = runIds ?? (await reader.queryRows<{ runId: string }>(ACKNOWLEDGED_RUNS)).map(idOf);
  if (acknowledged.length === 0) return found;
  const options = { params: { runIds: acknowledged }, ...(signal && { signal }) };
  for (const row of await reader.queryRows<Row>(RECORDS, options)) {
    const occurrences = found.get(row.runId) ?? new AlarmOccurrences();
    found.set(row.runId, occurrences);
    apply(row, occurrences);
  }
  return found;
}

const idOf = ({ runId }: Pick<Row, 'runId'>): string => runId;

function apply(row: Row, occurrences: AlarmOccurrences): void {
  const { kind, occurredAtUs, alarmSource, rule, message, numTimes, note, acknowledgedBy } = row;
  const alarm: AlarmIdentity = { source: alarmSource, rule, message };
  switch (kind) {
    case 'WarningRaised':
      occurrences.raise({ ...alarm, raisedAtUs: occurredAtUs, numTimes });
      break;
    case 'AlarmAcknowledged':
      occurrences.acknowledge(alarm, { note, source: acknowledgedBy, acknowledgedAtUs: occurredAtUs });
      break;
    case 'RunEnded': {
      occurrences.end();
      const failure = { source: 'system', rule: RUN_FAILED, message: '' } as const;
      if (row.hasFailed) occurrences.raise({ ...failure, raisedAtUs: occurredAtUs, numTimes: 1 });
    }
  }
}

const silences = (ofRuns: string): string => `
  SELECT
    run_id AS runId, rule, toUnixTimestamp64Micro(silenced_until) AS untilUs,
    toUnixTimestamp64Micro(silenced_at) AS silencedAtUs, note, silenced_by AS source
  FROM alarm_silences ${ofRuns}
  ORDER BY untilUs DESC, runId, rule`;

/** Reads the newest silence of each rule, those that end last first, whether they hold or not. @param runIds null: of all runs @throws StoreError */
export function readSilences(
  reader: StoreReader,
  runIds: readonly string[] | null,
  signal?: AbortSignal,
): Promise<StoredSilence[]> {
  const options = { params: { runIds: runIds ?? [] }, ...(signal && { signal }) };
  return reader.queryRows(silences(runIds === null ? '' : 'WHERE run_id IN {runIds:Array(String)}'), options);
}

/** Of silences that end last first, the one that holds for alarms of a rule in a run at a moment; null where none does. */
export function silenceAt(
  known: readonly StoredSilence[],
  { runId, rule }: Pick<StoredSilence, 'runId' | 'rule'>,
  atUs: number,
): StoredSilence | null {
  return known.find((silence) => isSameSilence(silence, { runId, rule }) && holdsAt(silence, atUs)) ?? null;
}

/**
 * Of silences that end last first, the one that keeps an alarm from being sent at a moment: it holds then, or held when the alarm was raised, which may
 * have waited since. One that was ended by hand keeps nothing back any more. Null where none does.
 */
export function silenceOfAlarm(
  known: readonly StoredSilence[],
  alarm: Pick<Alarm, 'runId' | 'rule' | 'raisedAtUs'>,
  sentAtUs: number,
): StoredSilence | null {
  const { raisedAtUs } = alarm;
  const keepsBack = (silence: StoredSilence): boolean =>
    holdsAt(silence, sentAtUs) || (silence.silencedAtUs <= raisedAtUs && holdsAt(silence, raisedAtUs));
  return known.find((silence) => isSameSilence(silence, alarm) && keepsBack(silence)) ?? null;
}

/** Whether a silence is not over at a moment after it began; one that was ended by hand never holds. */
export function holdsAt({ silencedAtUs, untilUs }: StoredSilence, atUs: number): boolean {
  return untilUs > silencedAtUs && untilUs > atUs;
}

function isSameSilence(
  silence: StoredSilence,
  { runId, rule }: Pick<StoredSilence, 'runId' | 'rule'>,
): boolean {
  return (silence.runId === '' || silence.runId === runId) && silence.rule === rule;
}
