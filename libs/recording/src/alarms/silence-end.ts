import { invalid, isDateTime } from '../wire/check-wire.js';

const SECOND_US = 1_000_000;
const UNITS_US: Readonly<Record<string, number>> = {
  m: 60 * SECOND_US,
  h: 3_600 * SECOND_US,
  d: 86_400 * SECOND_US,
};
const DURATION = /^(\d{1,6})([mhd])$/;

/** Longest silence, in days: one that nobody ends is not forgotten for ever. */
const MAX_DAYS = 90;
const RULE = `must be "now", a time to come, ISO 8601 with a zone, or a duration such as 30m, 1h or 7d, at most ${MAX_DAYS} days from now`;

/**
 * The moment at which a silence ends, microseconds since the Unix epoch.
 *
 * @param until `now`, a duration, or a time
 * @param nowUs when it was asked for
 * @throws RecordingError `INVALID_RECORDS`
 */
export function silenceEnd(until: string, nowUs: number): number {
  if (until === 'now') return nowUs;
  const [, count, unit] = DURATION.exec(until) ?? [];
  const endUs =
    count === undefined
      ? isDateTime(until)
        ? Date.parse(until) * 1000
        : NaN
      : nowUs + Number(count) * UNITS_US[unit];
  // Of NaN neither holds.
  if (endUs > nowUs && endUs <= nowUs + MAX_DAYS * UNITS_US.d) return endUs;
  throw invalid({ index: null, field: 'until', value: until, rule: RULE });
}
