import { WARNING_SOURCES } from '@retrace/trajectory';
import { objectSchema, text, uuid, type ValueOf, word } from '../wire/schema.js';

const MAX_NOTE_LENGTH = 10_000;
const MAX_RULE_LENGTH = 256;

export const ACKNOWLEDGE_ALARM_REQUEST = objectSchema(
  {
    runId: uuid('Run of the alarm; left out for a process of no run'),
    alarmSource: word(WARNING_SOURCES, 'Process that raised it: `source` in the list of alarms'),
    rule: text('As in the list of alarms', { maxLength: MAX_RULE_LENGTH, default: '' }),
    message: text(
      'As in the list of alarms; needed where the alarm has no rule, and without effect elsewhere',
      {
        maxLength: MAX_NOTE_LENGTH,
      },
    ),
    note: text('What is known of it, or done about it', { maxLength: MAX_NOTE_LENGTH }),
    source: text('Who acknowledges; with a key, its name is taken', { maxLength: 256, default: 'caller' }),
  },
  ['alarmSource'],
);

export const SILENCE_ALARMS_REQUEST = objectSchema(
  {
    runId: uuid('Only in this run; left out for all runs'),
    rule: text('Name of the monitor, or `runFailed`; empty for all alarms without a rule', {
      maxLength: MAX_RULE_LENGTH,
    }),
    until: text(
      'A time, ISO 8601 with a zone, or how long from now: `30m`, `1h`, `7d`; at most 90 days. `now` ends a silence',
      { maxLength: 40 },
    ),
    note: text('Why, in words; needed unless a silence ends', { maxLength: MAX_NOTE_LENGTH }),
    source: text('Who silences; with a key, its name is taken', { maxLength: 256, default: 'caller' }),
  },
  ['rule', 'until'],
);

/** Acknowledges an alarm, which it names as the list of alarms does. */
export type AcknowledgeAlarmRequest = ValueOf<typeof ACKNOWLEDGE_ALARM_REQUEST>;
/** Silences the alarms of a rule, or ends their silence. */
export type SilenceAlarmsRequest = ValueOf<typeof SILENCE_ALARMS_REQUEST>;
