const MISSING = '–';
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration in its two largest units: 95,000 ms as `1m 35s`. A missing or negative one is a dash. */
export function formatDuration(durationMs: number | null | undefined): string {
  if (durationMs === null || durationMs === undefined || !Number.isFinite(durationMs) || durationMs < 0)
    return MISSING;
  if (durationMs > 0 && durationMs < 0.01) return '< 0.01 ms';
  if (durationMs < 1) return `${Number(durationMs.toPrecision(2))} ms`;
  if (durationMs < SECOND_MS) return `${Math.round(durationMs)} ms`;
  if (durationMs < MINUTE_MS) return `${Number((durationMs / SECOND_MS).toPrecision(3))} s`;
  if (durationMs < HOUR_MS)
    return `${Math.floor(durationMs / MINUTE_MS)}m ${Math.floor((durationMs % MINUTE_MS) / SECOND_MS)}s`;
  if (durationMs < DAY_MS)
    return `${Math.floor(durationMs / HOUR_MS)}h ${Math.floor((durationMs % HOUR_MS) / MINUTE_MS)}m`;
  return `${Math.floor(durationMs / DAY_MS)}d ${Math.floor((durationMs % DAY_MS) / HOUR_MS)}h`;
}

/** Formats the time since an ISO 8601 time stamp in its largest unit: `30 s ago`. */
export function formatAgo(moment: string | null | undefined, nowMs: number): string {
  if (!moment) return MISSING;
  const elapsedMs = nowMs - Date.parse(moment);
  if (!Number.isFinite(elapsedMs)) return MISSING;
  if (elapsedMs < 5 * SECOND_MS) return 'just now';
  if (elapsedMs < MINUTE_MS) return `${Math.floor(elapsedMs / SECOND_MS)} s ago`;
  if (elapsedMs < HOUR_MS) return `${Math.floor(elapsedMs / MINUTE_MS)} min ago`;
  if (elapsedMs < DAY_MS) return `${Math.floor(elapsedMs / HOUR_MS)} h ago`;
  return `${Math.floor(elapsedMs / DAY_MS)} d ago`;
}

/** Formats an ISO 8601 time stamp as local date and time: `2026-01-02 15:04:05`. */
export function formatMoment(moment: string | null | undefined): string {
  if (!moment) return MISSING;
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return MISSING;
  const two = (value: number): string => `${value}`.padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
