import { AsyncLocalStorage } from 'node:async_hooks';
import { settingsAsOf, type StatementOptions } from '@retrace/store';

/** The moment that a request asks about, in microseconds since the Unix epoch; without one it asks about now. */
export const askedMoment = new AsyncLocalStorage<number>();

/** Whether this request asks about now. */
export function asksAboutNow(): boolean {
  return askedMoment.getStore() === undefined;
}

/** Settings of the engine with which the statements of this request read. */
export function requestSettings(): NonNullable<StatementOptions['settings']> {
  const timeUs = askedMoment.getStore();
  return timeUs === undefined ? {} : settingsAsOf(timeUs);
}

/** Now, or the moment that this request asks about, in whole milliseconds since the Unix epoch. */
export function requestTimeMs(): number {
  const timeUs = askedMoment.getStore();
  return timeUs === undefined ? Date.now() : Math.floor(timeUs / 1000);
}
