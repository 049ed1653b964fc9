/** Microseconds of a second. */
const US_PER_SECOND = 1_000_000;

/**
 * Returns a time as microseconds since the Unix epoch; undefined where there is none that can be read. Takes ISO 8601 texts, and
 * Langfuse's `YYYY-MM-DD HH:MM:SS.ffffff`, which is UTC without saying so.
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(
    value,
  );
  if (match === null) return undefined;
  const [, date, time, fraction = '', zone = 'Z'] = match;
  const zoned = zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const seconds = Date.parse(`${date}T${time}${zoned}`) / 1000;
  if (!Number.isFinite(seconds) || seconds < 0) return undefined;
  return seconds * US_PER_SECOND + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** Microseconds of seconds since the Unix epoch, such as Python's `time.time()`; undefined where it is no such time. */
export function timeOfSeconds(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || value > 1e11) return undefined;
  return Math.round(value * US_PER_SECOND);
}

/** Microseconds of nanoseconds since the Unix epoch, a number or its decimal digits; undefined where it is no such time. */
export function timeOfNanoseconds(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  if (typeof value === 'string' && !/^\d{1,20}$/.test(value)) return undefined;
  const us = typeof value === 'string' ? Number(BigInt(value) / 1000n) : Math.floor(value / 1000);
  return Number.isSafeInteger(us) && us > 0 ? us : undefined;
}
