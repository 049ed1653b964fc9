import type { AlarmItem } from '@retrace/api';
import type { EventLog } from '@retrace/log';
import {
  type AlarmAcknowledged,
  type AlarmSilenced,
  describeProblem,
  nowUs,
  ruleOfName,
} from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { findRun } from '../../run/find-run.js';
import { withStore } from '../../services/store-session.js';
import { readAlarms } from './list.js';

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
  await namingOptions({ rule: '<alarm>', note: '--note' }, () =>
    requireRequest(ACKNOWLEDGE_ALARM_REQUEST, { alarmSource: 'system', rule, note }),
  );
  const open = await withStore({ dataDir }, async (session) => {
    const { log } = session;
    const runId = run === undefined ? null : (await findRun(log, run)).runId;
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
export async function silence(
  name: string,
  { dataDir, json, run, until, reason }: SilenceOptions,
): Promise<void> {
  const { requireRequest, SILENCE_ALARMS_REQUEST, silenceEnd } = await import('@retrace/recording');
  if (reason.trim() === '') throw new CliError('OPTION_INVALID', '--reason: must say why');
  const rule = ruleOfName(name);
  const untilUs = await namingOptions({ rule: '<alarm>', until: '--until', note: '--reason' }, () => {
    requireRequest(SILENCE_ALARMS_REQUEST, { rule, until, note: reason });
    return silenceEnd(until, nowUs());
  });
  const payload = { rule, untilUs, note: reason, source: 'retrace alarms silence' };
  await withStore({ dataDir, upToDate: false }, async ({ log }) => {
    await writeSilence(log, run === undefined ? '' : (await findRun(log, run)).runId, payload);
  });
  const end = toIsoTime(untilUs);
  if (json === true) console.log(JSON.stringify({ until: end }));
  else console.log(`silenced ${name} until ${end}`);
}

/** Ends the silence of a rule in one run or in all. */
export async function unsilence(name: string, { dataDir, json, run }: HandleOptions): Promise<void> {
  const rule = ruleOfName(name);
  const untilUs = await withStore({ dataDir }, async ({ client, log, catchUp }) => {
    const { requireSilence } = await import('@retrace/recording');
    const runId = run === undefined ? '' : (await findRun(log, run)).runId;
    await catchUp();
    const endedAtUs = nowUs();
    await requireSilence(client, { runId, rule }, endedAtUs);
    const ended = { rule, untilUs: endedAtUs, note: '', source: 'retrace alarms unsilence' };
    await writeSilence(log, runId, ended);
    return endedAtUs;
  });
  if (json === true) console.log(JSON.stringify({ until: toIsoTime(untilUs) }));
  else console.log(`ended the silence of ${name}`);
}

async function writeSilence(log: EventLog, runId: string, payload: AlarmSilenced): Promise<void> {
  const { ControlTail } = await import('@retrace/log');
  const control = new ControlTail(log);
  await control.append(runId, { kind: 'AlarmSilenced', payload });
  control.close();
}

function toIsoTime(us: number): string {
  return new Date(Math.floor(us / 1000)).toISOString();
}

/**
 * Runs the checks of a request whose fields come from the command line.
 *
 * @param names options and arguments by field
 * @throws CliError `OPTION_INVALID` naming the option
 */
async function namingOptions<T>(names: Readonly<Record<string, string>>, check: () => T): Promise<T> {
  const { RecordingError } = await import('@retrace/recording');
  try {
    return check();
  } catch (cause) {
    const fault = cause instanceof RecordingError ? cause.faults.at(0) : undefined;
    if (fault === undefined) throw cause;
    const { field, value, rule } = fault;
    throw new CliError('OPTION_INVALID', describeProblem({ field: names[field] ?? field, value, rule }), {
      cause,
    });
  }
}
