import { runCheck, type CheckResult } from './check.js';

/** The part of the API's health report that is used here. */
interface Health {
  readonly store: { readonly state: string; readonly detail: string };
  readonly sink: { readonly state: string; readonly detail: string; readonly lagRecords: number | null };
}

const ANSWER_TIMEOUT_MS = 5_000;

/** Checks the store and the sink of the server that holds the data directory. */
export function checkServer(apiUrl: string): Promise<CheckResult> {
  return runCheck('server', async () => {
    let health: Health;
    try {
      const response = await fetch(`${apiUrl}/api/health`, {
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      health = (await response.json()) as Health;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { verdict: 'warn', detail: `${apiUrl} does not answer (${reason}); it may be starting` };
    }
    const { store, sink } = health;
    if (store.state !== 'ready')
      return { verdict: 'warn', detail: `${apiUrl}: the store is ${store.state}: ${store.detail}` };
    if (sink.state === 'failed')
      return { verdict: 'fail', detail: `${apiUrl}: the sink has stopped: ${sink.detail}` };
    if (sink.state === 'backingOff')
      return {
        verdict: 'warn',
        detail: `${apiUrl}: part of the sink is failing and retries: ${sink.detail}`,
      };
    return { verdict: 'ok', detail: `${apiUrl}: ${describeLag(sink.lagRecords)}` };
  });
}

function describeLag(lagRecords: number | null): string {
  if (lagRecords === null) return 'the sink has not reported its position yet';
  return lagRecords === 0 ? 'the store is up to date' : `the store is ${lagRecords} records behind the log`;
}
