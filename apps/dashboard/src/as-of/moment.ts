import { parsePath, type To } from 'react-router';

/** Field of an address, of the page and of the API, with the moment that it is about. */
export const MOMENT_FIELD = 'asOf';

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,6})?)?\s*(Z|[+-]\d\d:\d\d)?$/;

/** Milliseconds since the Unix epoch of a moment as the API takes it; NaN of an event, whose time is not known here. */
export function momentMs(moment: string): number {
  const [, day, time, seconds = '', zone = 'Z'] = TIME.exec(moment) ?? [];
  return day === undefined ? Number.NaN : Date.parse(`${day}T${time}${seconds || ':00'}${zone}`);
}

/** Reads a date with a time that a person typed, by this browser's zone where it names none, as the API takes it. Null for another text. */
export function readTime(typed: string): string | null {
  const [, day, time, seconds = ':00', zone] = TIME.exec(typed) ?? [];
  if (day === undefined) return null;
  if (zone !== undefined) return `${day}T${time}${seconds}${zone}`;
  const local = new Date(`${day}T${time}${seconds}`);
  return Number.isNaN(local.getTime()) ? null : local.toISOString();
}

/** The moment in the query of an address; null for now. */
export function momentIn(search: URLSearchParams): string | null {
  return search.get(MOMENT_FIELD);
}

/** An address of the page with the moment, unless it names one itself. */
export function withMoment(to: To, moment: string | null): To {
  if (moment === null) return to;
  const path = typeof to === 'string' ? parsePath(to) : to;
  const search = new URLSearchParams(path.search);
  if (!search.has(MOMENT_FIELD)) search.set(MOMENT_FIELD, moment);
  return { ...path, search: `?${search.toString()}` };
}
