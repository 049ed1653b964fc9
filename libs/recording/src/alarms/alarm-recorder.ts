import { readAlarmOccurrences } from '@retrace/store';
import {
  type AlarmAcknowledged,
  type AlarmSilenced,
  type AnyEvent,
  newControlEvent,
} from '@retrace/trajectory';
import { RecordingError } from '../recording-error.js';
import { requireControlEvent } from '../run/control-event.js';
import type { RedactingParts } from '../run/control-parts.js';
import { invalid, requireRequest } from '../wire/check-wire.js';
import { ACKNOWLEDGE_ALARM_REQUEST, SILENCE_ALARMS_REQUEST } from './alarm-requests.js';
import { requireSilence } from './held-silence.js';
import { silenceEnd } from './silence-end.js';

type Written =
  | { readonly kind: 'AlarmAcknowledged'; readonly payload: AlarmAcknowledged }
  | { readonly kind: 'AlarmSilenced'; readonly payload: AlarmSilenced };

/** Writes what people do about alarms. Acknowledged once the store shows it, or does not within its time. */
export class AlarmRecorder {
  constructor(private readonly parts: RedactingParts) {}

  /**
   * Acknowledges the newest occurrence of an alarm; a second acknowledgement replaces the first.
   *
   * @param value an `AcknowledgeAlarmRequest`, checked here
   * @returns the run of the alarm, empty for a process of no run
   * @throws RecordingError `INVALID_RECORDS`, `RUN_UNKNOWN`, `ALARM_UNKNOWN`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async acknowledge(value: unknown): Promise<string> {
    const request = requireRequest(ACKNOWLEDGE_ALARM_REQUEST, value);
    const { runId = '', alarmSource, rule = '', message = '' } = request;
    if (rule === '' && message === '') {
      const must = 'must be the text of the alarm, which has no rule';
      throw invalid({ index: null, field: 'message', value: message, rule: must });
    }
    await this.requireRun(runId);
    // The run may be known without a question to the store.
    await this.parts.runs.untilStored();
    const alarm = { source: alarmSource, rule, message };
    const known = await readAlarmOccurrences(this.parts.client, [runId]);
    if (known.get(runId)?.has(alarm) !== true) {
      const name = rule === '' ? `"${message}"` : rule;
      const where = runId === '' ? 'No process of no run' : `No process of run ${runId}`;
      throw new RecordingError('ALARM_UNKNOWN', `${where} has raised the alarm ${name} as ${alarmSource}`);
    }
    const { note = '', source = 'caller' } = this.parts.redact({
      note: request.note,
      source: request.source,
    });
    const payload = { rule, alarmSource, message: rule === '' ? message : '', note, source };
    await this.write(runId, { kind: 'AlarmAcknowledged', payload });
    return runId;
  }

  /**
   * Silences the alarms of a rule in one run or in all, or ends their silence.
   *
   * @param value a `SilenceAlarmsRequest`, checked here
   * @returns when the silence ends, microseconds since the Unix epoch
   * @throws RecordingError `INVALID_RECORDS`, `RUN_UNKNOWN`, `SILENCE_UNKNOWN`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async silence(value: unknown): Promise<number> {
    const request = requireRequest(SILENCE_ALARMS_REQUEST, value);
    const { runId = '', rule, until } = request;
    const nowUs = this.parts.nowUs();
    const untilUs = silenceEnd(until, nowUs);
    if (until !== 'now' && (request.note ?? '').trim() === '') {
      const must = 'must say why, unless a silence ends';
      throw invalid({ index: null, field: 'note', value: request.note, rule: must });
    }
    await this.requireRun(runId);
    if (until === 'now') {
      await this.parts.runs.untilStored();
      await requireSilence(this.parts.client, { runId, rule }, nowUs);
    }
    const { note = '', source = 'caller' } = this.parts.redact({
      note: request.note,
      source: request.source,
    });
    await this.write(runId, { kind: 'AlarmSilenced', payload: { rule, untilUs, note, source } });
    return untilUs;
  }

  private async requireRun(runId: string): Promise<void> {
    if (runId !== '') await this.parts.runs.require(runId);
  }

  private async write(runId: string, written: Written): Promise<void> {
    const { log, runs, nowUs } = this.parts;
    const event = newControlEvent({
      ...written,
      ...{ logId: log.logId, runId, occurredAtUs: nowUs() },
    }) as AnyEvent;
    requireControlEvent(event);
    await runs.append(event);
    await runs.untilShown();
  }
}
