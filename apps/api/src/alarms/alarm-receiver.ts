import type { Alarm } from './alarm.js';

/** Facts that an alarm lacks. */
export interface AlarmContext {
  /** Name of its run; null where it is not known. */
  readonly runName: string | null;
  /** Page of its run; null where the address of the pages is not known. */
  readonly page: string | null;
}

/** Where alarms are sent, and in which form. */
export interface AlarmReceiver {
  /** For log lines and file names. */
  readonly name: 'webhook' | 'alertmanager';
  readonly url: string;
  readonly body: (alarm: Alarm, context: AlarmContext) => unknown;
}

/** How long Alertmanager takes an alarm as firing after it was raised last: alarms are events, and nothing says that one is over. */
const FIRING_MS = 3_600_000;

/** An incoming webhook of Slack, or of what takes the same body: Mattermost, Rocket.Chat, Discord at `…/slack`. */
export function webhookReceiver(url: string): AlarmReceiver {
  return { name: 'webhook', url, body: (alarm, context) => ({ text: textOf(alarm, context) }) };
}

/** Prometheus Alertmanager, by its API v2; groups, silences and acknowledgements are its own. */
export function alertmanagerReceiver(url: string): AlarmReceiver {
  return {
    name: 'alertmanager',
    url: `${url.replace(/\/$/, '')}/api/v2/alerts`,
    body: (alarm, context) => [alertOf(alarm, context)],
  };
}

function textOf(alarm: Alarm, { runName, page }: AlarmContext): string {
  const { runId, source, step, message, numTimes, advice, raisedAtMs } = alarm;
  const run =
    runId === null ? 'no run' : `run ${runName === null ? runId : `${runName} (${runId.slice(-8)})`}`;
  const place = [run, source, ...(step === null ? [] : [`step ${step}`]), new Date(raisedAtMs).toISOString()];
  const lines = [
    `:rotating_light: ${alarm.name}: ${message}${numTimes > 1 ? ` (${numTimes} times)` : ''}`,
    place.join(' · '),
    ...(advice === '' ? [] : [advice]),
    ...(page === null ? [] : [page]),
  ];
  return escaped(lines.join('\n'));
}

/** Slack reads these characters as markup: a message must not mention a channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function alertOf(alarm: Alarm, { runName, page }: AlarmContext): unknown {
  const { name, runId, source, step, message, advice, raisedAtMs } = alarm;
  return {
    labels: {
      alertname: name,
      severity: 'critical',
      job: 'retrace',
      source,
      ...(runId !== null && { run_id: runId }),
      ...(runName !== null && { run: runName }),
    },
    annotations: {
      summary: message,
      ...(step !== null && { step: `${step}` }),
      ...(advice !== '' && { description: advice }),
    },
    startsAt: new Date(raisedAtMs).toISOString(),
    endsAt: new Date(raisedAtMs + FIRING_MS).toISOString(),
    ...(page !== null && { generatorURL: page }),
  };
}
