/** Addresses that tell of now, and refuse `?asOf=`. */
const OF_NOW: ReadonlySet<string> = new Set([
  '/api/agents',
  '/api/health',
  '/api/queue',
  '/api/recipes',
  '/api/runs/{runId}/live',
  '/api/runs/{runId}/replays/{replayId}',
  '/api/runs/{runId}/retention',
  '/api/runs/{runId}/what-ifs',
  '/api/runs/{runId}/what-ifs/{whatIfId}',
  '/api/session',
  '/api/sql/schema',
]);

/** Whether what is read from an address of the API can be asked as of a moment. */
export function takesMoment(path: string): boolean {
  return !OF_NOW.has(path);
}
