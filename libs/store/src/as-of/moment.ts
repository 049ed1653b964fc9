import { isUuid } from '@retrace/trajectory';
import type { StoreClient, StoreReader } from '../client/store-client.js';
import { DEAD_LETTER_KIND, WATERMARK_KIND } from '../rows/event-rows.js';
import { StoreError } from '../client/store-error.js';

const RULE =
  'must be a date with a time such as 2026-11-23T09:00:00.5Z, the id of an event, or RUN@N with the id of a run for the commit of its update N';

const TIME =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;
const UPDATE = /^([^@]+)@(\d{1,15})$/;

const EVENT_TIME = `
  SELECT toUnixTimestamp64Micro(min(occurred_at)) AS timeUs FROM events
  WHERE event_id = {eventId:UUID} AND kind NOT IN ('${DEAD_LETTER_KIND}', '${WATERMARK_KIND}')
  HAVING count() > 0`;
const UPDATE_TIME = `
  SELECT toUnixTimestamp64Micro(applied_at) AS timeUs FROM updates
  WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64} AND applied_at IS NOT NULL`;

/**
 * Reads which moment a text names, in microseconds since the Unix epoch: a time in ISO 8601 (without a zone it is in UTC, as SQL prints times), the id
 * of an event (everything until then, and the event), or `RUN@N` for the commit of update N of a run, whose whole id is given.
 *
 * @throws StoreError `MOMENT_INVALID` for another text; `MOMENT_UNKNOWN` where the store has no such event or commit; `CLUSTER_UNSUPPORTED`
 */
export async function readMoment(
  client: Pick<StoreClient, 'queryRows' | 'layout'>,
  text: string,
): Promise<number> {
  if (client.layout.cluster !== null)
    throw new StoreError(
      'CLUSTER_UNSUPPORTED',
      'an earlier moment can only be read from a store of one server',
    );
  const timeUs = parseTimeUs(text);
  if (timeUs !== null) return timeUs;
  if (isUuid(text)) return readTime(client, text, EVENT_TIME, { eventId: text });
  const [, runId, updateNumber] = UPDATE.exec(text) ?? [];
  if (runId !== undefined && isUuid(runId))
    return readTime(client, text, UPDATE_TIME, { runId, updateNumber: Number(updateNumber) });
  throw new StoreError('MOMENT_INVALID', `${RULE}, got ${JSON.stringify(text.slice(0, 60))}`);
}

async function readTime(
  reader: StoreReader,
  text: string,
  sql: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  const [row] = await reader.queryRows<{ readonly timeUs: number } | undefined>(sql, { params });
  if (row === undefined) {
    const what = isUuid(text) ? `no event ${text}` : `no commit of ${text}`;
    throw new StoreError('MOMENT_UNKNOWN', `the store has ${what}`);
  }
  return row.timeUs;
}

/** Null for a text that is no time. */
function parseTimeUs(text: string): number | null {
  const [, day, time, seconds = '00', fraction = '', zone = 'Z'] = TIME.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return null;
  const timeUs = Date.parse(`${day}T${time}:${seconds}${zone}`) * 1000 + Number(fraction.padEnd(6, '0'));
  // Clamped: every event lies between these.
  return Math.min(Math.max(timeUs, 0), Number.MAX_SAFE_INTEGER);
}

/** `Date` takes the 30th of February for the 2nd of March. */
function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
