/** A `DateTime64` in UTC as the store writes it, `2026-01-02 03:04:05.123456`, as ISO 8601. */
export function isoTime(storeTime: string): string {
  return `${storeTime.replace(' ', 'T')}Z`;
}

/** Microseconds since the Unix epoch as ISO 8601. */
export function isoTimeOfUs(timeUs: number): string {
  const micros = `${timeUs % 1000}`.padStart(3, '0');
  return new Date(Math.floor(timeUs / 1000)).toISOString().replace('Z', `${micros}Z`);
}

export function isoTimeOrNull(storeTime: string | null): string | null {
  return storeTime === null ? null : isoTime(storeTime);
}
