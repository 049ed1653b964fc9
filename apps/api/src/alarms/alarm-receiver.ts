import { type Alarm, ALARM_HOLDS_US, nameOfRule } from '@retrace/trajectory';
import type { AlarmStanding } from './alarm-standing.js';

/** Facts that an alarm lacks. */
export interface AlarmContext extends AlarmStanding {
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
  /**
   * Returns the body of the request; null where the alarm is not to be sent.
   *
   * @param nowMs when it is sent, which may be long after it was raised
   */
  readonly body: (alarm: Alarm, context: AlarmContext, nowMs: number) => object | null;
}

/**
 * How long Alertmanager takes an alarm as firing after it was sent: alarms are events, and nothing says that one is over. Long, because of a text that
 * is repeated only the 1st, 2nd, 4th, 8th … time is an event.
 */
const FIRING_MS = ALARM_HOLDS_US / 1000;

/** Characters of a message or an advice: Discord takes 2,000 in all. */
const MAX_TEXT = 800;

/**
 * An incoming webhook of Slack, or of a service that accepts the same body: Mattermost, Rocket.Chat, Discord at `…/slack`. It gets no alarm that is
 * acknowledged or silenced.
 */
export function webhookReceiver(url: string): AlarmReceiver {
  return {
    name: 'webhook',
    url,
    body: (alarm, context) => (isHandled(context) ? null : { text: describeText(alarm, context) }),
  };
}

/**
 * Prometheus Alertmanager, by its API v2. It gets every alarm, since groups and silences there are its own; annotations say what people did about it.
 */
export function alertmanagerReceiver(url: string): AlarmReceiver {
  return {
    name: 'alertmanager',
    url: `${url.replace(/\/$/, '')}/api/v2/alerts`,
    body: (alarm, context, nowMs) => [toAlert(alarm, context, nowMs)],
  };
}

function isHandled({ acknowledgement, silence }: AlarmStanding): boolean {
  return acknowledgement !== null || silence !== null;
}

function describeText(alarm: Alarm, { runName, page }: AlarmContext): string {
  const { runId, source, step, message, numTimes, advice, rule } = alarm;
  const run = runId === '' ? 'no run' : `run ${runName === null ? runId : `${runName} (${runId.slice(-8)})`}`;
  const place = [run, source, ...(step === null ? [] : [`step ${step}`]), toIsoTime(alarm)];
  const lines = [
    `:rotating_light: ${nameOfRule(rule)}: ${cut(message)}${numTimes > 1 ? ` (${numTimes} times)` : ''}`,
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

function toIsoTime({ raisedAtUs }: Alarm): string {
  return new Date(Math.floor(raisedAtUs / 1000)).toISOString();
}

function toAlert(alarm: Alarm, context: AlarmContext, nowMs: number): object {
  const { rule, runId, source, step, message, advice, raisedAtUs } = alarm;
  const { runName, page } = context;
  return {
    // What may be missing at one time and there at another is no label: it would make another alert.
    labels: {
      ...{ alertname: nameOfRule(rule), severity: 'critical', job: 'retrace', source },
      ...(runId !== '' && { run_id: runId }),
    },
    annotations: {
      summary: message,
      ...(runName !== null && { run: runName }),
      ...(step !== null && { step: `${step}` }),
      ...(advice !== '' && { description: advice }),
      ...toHandled(context),
    },
    startsAt: toIsoTime(alarm),
    endsAt: new Date(Math.max(Math.floor(raisedAtUs / 1000), nowMs) + FIRING_MS).toISOString(),
    ...(page !== null && { generatorURL: page }),
  };
}

/** Annotations of what people did about an alarm; unlike labels, they do not make another alert of it. */
function toHandled({ acknowledgement, silence }: AlarmStanding): Readonly<Record<string, string>> {
  return {
    ...(acknowledgement !== null && {
      acknowledged_by: acknowledgement.source,
      ...(acknowledgement.note !== '' && { acknowledgement: acknowledgement.note }),
    }),
    ...(silence !== null && {
      silenced_by: silence.source,
      silenced_until: new Date(Math.floor(silence.untilUs / 1000)).toISOString(),
      silence: silence.note,
    }),
  };
}
