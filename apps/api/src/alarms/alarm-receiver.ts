import type { Alarm } from './alarm.js';

/** Facts that an alarm lacks. */
export interface AlarmContext {
  /** Name of its run; null where it is not known. */
  readonly runName: string | null;
  /** Page of its run; null where the address of the pages is not known. */
  readonly page: string | null;
}

/** A service that alarms are sent to, and the form that it takes them in. */
export interface AlarmReceiver {
  /** For log lines and file names. */
  readonly name: 'webhook' | 'alertmanager';
  readonly url: string;
  /** @param nowMs when it is sent, which may be long after it was raised */
  readonly body: (alarm: Alarm, context: AlarmContext, nowMs: number) => unknown;
}

/**
 * How long Alertmanager takes an alarm as firing after it was sent: alarms are events, and nothing says that one is over. Long, because of a text that
 * is repeated only the 1st, 2nd, 4th, 8th … time is an event.
 */
const FIRING_MS = 24 * 3_600_000;

/** Characters of a message or an advice: Discord takes 2,000 in all. */
const MAX_TEXT = 800;

/** An incoming webhook of Slack, or of a service that accepts the same body: Mattermost, Rocket.Chat, Discord at `…/slack`. */
export function webhookReceiver(url: string): AlarmReceiver {
  return { name: 'webhook', url, body: (alarm, context) => ({ text: textOf(alarm, context) }) };
}

/** Prometheus Alertmanager, by its API v2; groups, silences and acknowledgements are its own. */
export function alertmanagerReceiver(url: string): AlarmReceiver {
  return {
    name: 'alertmanager',
    url: `${url.replace(/\/$/, '')}/api/v2/alerts`,
    body: (alarm, context, nowMs) => [alertOf(alarm, context, nowMs)],
  };
}

function textOf(alarm: Alarm, { runName, page }: AlarmContext): string {
  const { runId, source, step, message, numTimes, advice, raisedAtMs } = alarm;
  const run =
    runId === null ? 'no run' : `run ${runName === null ? runId : `${runName} (${runId.slice(-8)})`}`;
  const place = [run, source, ...(step === null ? [] : [`step ${step}`]), new Date(raisedAtMs).toISOString()];
  const lines = [
    `:rotating_light: ${alarm.name}: ${cut(message)}${numTimes > 1 ? ` (${numTimes} times)` : ''}`,
    place.join(' · '),
    ...(advice === '' ? [] : [cut(advice)]),
    ...(page === null ? [] : [page]),
  ];
  return withoutMentions(lines.join('\n'));
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

/** A text of an environment or a model must call nobody: Slack reads `<!channel>`, others `@all`. */
function withoutMentions(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200b');
}

function alertOf(alarm: Alarm, { runName, page }: AlarmContext, nowMs: number): unknown {
  const { name, runId, source, step, message, advice, raisedAtMs } = alarm;
  return {
    // What may be missing at one time and there at another is no label: it would make another alert.
    labels: {
      ...{ alertname: name, severity: 'critical', job: 'retrace', source },
      ...(runId !== null && { run_id: runId }),
    },
    annotations: {
      summary: message,
      ...(runName !== null && { run: runName }),
      ...(step !== null && { step: `${step}` }),
      ...(advice !== '' && { description: advice }),
    },
    startsAt: new Date(raisedAtMs).toISOString(),
    endsAt: new Date(Math.max(raisedAtMs, nowMs) + FIRING_MS).toISOString(),
    ...(page !== null && { generatorURL: page }),
  };
}
