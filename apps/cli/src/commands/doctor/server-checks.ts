import { runCheck, type CheckResult } from './check.js';

/** What an API says of itself, as far as it is looked at here. */
interface Health {
  readonly store: { readonly state: string; readonly detail: string };
  readonly sink: { readonly state: string; readonly detail: string; readonly lagRecords: number | null };
}

/** A person waits. */
const patienceMs = 5_000;

/** Whether the server that holds the data directory is well: its store, and its sink with every partition. */
export function checkServer(apiUrl: string): Promise<CheckResult> {
  return runCheck('server', async () => {
    let health: Health;
    try {
      const response = await fetch(`${apiUrl}/api/health`, { signal: AbortSignal.timeout(patienceMs) });
      health = (await response.json()) as Health;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { verdict: 'warn', detail: `${apiUrl} does not answer (${reason}); it may be starting` };
    }
    const { store, sink } = health;
    if (store.state !== 'ready')
      return { verdict: 'warn', detail: `${apiUrl}: the store is ${store.state}, ${store.detail}` };
    if (sink.state === 'failed')
      return { verdict: 'fail', detail: `${apiUrl}: the sink has stopped: ${sink.detail}` };
    if (sink.state === 'backingOff')
      return { verdict: 'warn', detail: `${apiUrl}: part of the sink is in trouble: ${sink.detail}` };
    return {
      verdict: 'ok',
      detail: `${apiUrl}: the store lacks ${sink.lagRecords ?? 'an unknown number of'} records`,
    };
  });
}
