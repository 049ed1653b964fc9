const REQUEST_TIMEOUT_MS = 10_000;
/** Statuses of a request that may be taken later; of other 4xx it never will be. */
const TRANSIENT = new Set([408, 425, 429]);

interface Answer {
  readonly outcome: 'taken' | 'refused' | 'failed';
  /** Has neither the address nor what the server said, which may repeat it: the address of a webhook is a secret. */
  readonly reason: string;
}

/** Posts a body once. Never throws. */
export async function postJson(url: string, body: unknown, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // A redirected POST would become a GET.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    void response.body?.cancel().catch(() => undefined);
    const { ok, status } = response;
    if (ok) return { outcome: 'taken', reason: '' };
    if (status < 400)
      return { outcome: 'failed', reason: `status ${status}, a redirect; name the address that it leads to` };
    const isRefused = status < 500 && !TRANSIENT.has(status);
    return { outcome: isRefused ? 'refused' : 'failed', reason: `status ${status}` };
  } catch (error) {
    const { name, cause } = error as Error & { readonly cause?: { readonly code?: string } };
    return { outcome: 'failed', reason: cause?.code ?? name };
  }
}
