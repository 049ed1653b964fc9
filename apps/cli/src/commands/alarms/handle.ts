import type { AlarmItem } from '@retrace/api';
import { type AlarmAcknowledged, type AlarmSilenced, nowUs } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { findRunId } from '../../run/find-run.js';
import { withStore } from '../../services/store-session.js';
import { readAlarms, ruleOfName } from './list.js';

interface HandleOptions extends CommonOptions {
  readonly run?: string;
}

interface AcknowledgeOptions extends HandleOptions {
  readonly note?: string;
}

/** Acknowledges the alarms of a rule that nobody has acknowledged. */
export async function acknowledge(
  name: string,
  { dataDir, json, run, note = '' }: AcknowledgeOptions,
): Promise<void> {
  const { ACKNOWLEDGE_ALARM_REQUEST, requireRequest } = await import('@retrace/recording');
  const rule = ruleOfName(name);
  const source = 'retrace alarms ack';
  requireRequest(ACKNOWLEDGE_ALARM_REQUEST, { alarmSource: 'system', rule, note });
  const open = await withStore({ dataDir }, async (session) => {
    const { log } = session;
    const runId = run === undefined ? null : await findRunId(log, run);
    const isOpen = (alarm: AlarmItem) => alarm.rule === rule && alarm.acknowledgement === null;
    const alarms = (await readAlarms(session, { dataDir, runId })).filter(isOpen);
    const { ControlTail } = await import('@retrace/log');
    const control = new ControlTail(log);
    for (const { runId: ofRun, source: alarmSource, message } of alarms) {
      const text = rule === '' ? message : '';
      const payload: AlarmAcknowledged = { rule, alarmSource, message: text, note, source };
      await control.append(ofRun, { kind: 'AlarmAcknowledged', payload });
    }
    control.close();
    return alarms;
  });
  if (open.length === 0) {
    const where = run === undefined ? '' : ` of run ${run}`;
    throw new CliError('ALARM_UNKNOWN', `no open alarm ${name}${where}; "retrace alarms" lists all`);
  }
  if (json === true) console.log(JSON.stringify({ acknowledged: open.length }));
  else
    for (const { runName } of open)
      console.log(`acknowledged ${name}${runName === '' ? '' : ` of ${runName}`}`);
}

interface SilenceOptions extends HandleOptions {
  readonly until: string;
  readonly reason: string;
}

/** Silences the alarms of a rule in one run or in all. */
export async function silence(name: string, { until, reason, ...options }: SilenceOptions): Promise<void> {
  if (reason === '') throw new CliError('OPTION_INVALID', '--reason: must say why');
  const end = await writeSilence(name, { ...options, until, note: reason, source: 'retrace alarms silence' });
  if (options.json === true) console.log(JSON.stringify({ until: end }));
  else console.log(`silenced ${name} until ${end}`);
}

/** Ends the silence of a rule in one run or in all. */
export async function unsilence(name: string, options: HandleOptions): Promise<void> {
  const ended = { until: 'now', note: '', source: 'retrace alarms unsilence' };
  const until = await writeSilence(name, { ...options, ...ended });
  if (options.json === true) console.log(JSON.stringify({ until }));
  else console.log(`ended the silence of ${name}`);
}

interface WrittenSilence extends HandleOptions, Pick<AlarmSilenced, 'note' | 'source'> {
  readonly until: string;
}

/** @returns when the silence ends, ISO 8601 */
async function writeSilence(
  name: string,
  { dataDir, run, until, note, source }: WrittenSilence,
): Promise<string> {
  const { requireRequest, SILENCE_ALARMS_REQUEST, silenceEnd } = await import('@retrace/recording');
  const rule = ruleOfName(name);
  requireRequest(SILENCE_ALARMS_REQUEST, { rule, until, note });
  const untilUs = silenceEnd(until, nowUs());
  await withStore({ dataDir, upToDate: false }, async ({ log }) => {
    const runId = run === undefined ? '' : await findRunId(log, run);
    const { ControlTail } = await import('@retrace/log');
    const control = new ControlTail(log);
    await control.append(runId, { kind: 'AlarmSilenced', payload: { rule, untilUs, note, source } });
    control.close();
  });
  return new Date(Math.floor(untilUs / 1000)).toISOString();
}
