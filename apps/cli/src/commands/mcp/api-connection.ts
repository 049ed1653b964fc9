import type { KeyScope } from '@retrace/process';
import type { ApiDocument, ApiRequest } from './operation.js';

/** An answer of the API that is an error. */
export class ApiRefusal extends Error {}

/** The API of a server, which may be started again at another address. */
export class ApiConnection {
  /**
   * @param findUrl returns its address now
   * @param key null: without one
   */
  constructor(
    private readonly findUrl: () => Promise<string>,
    private readonly key: string | null,
  ) {}

  readDocument(): Promise<ApiDocument> {
    return this.call({ method: 'GET', path: '/api/openapi.json' }) as Promise<ApiDocument>;
  }

  /** Scopes of the key; null: all, as the server asks for no key. */
  async scopes(): Promise<readonly KeyScope[] | null> {
    const session = (await this.call({ method: 'GET', path: '/api/session' })) as {
      readonly needsKey: boolean;
      readonly scopes: readonly KeyScope[];
    };
    return session.needsKey ? session.scopes : null;
  }

  /** @throws ApiRefusal where the server refuses, or does not answer */
  async call({ method, path, body }: ApiRequest, signal?: AbortSignal): Promise<unknown> {
    const url = await this.findUrl();
    const headers = {
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(this.key !== null && { authorization: `Bearer ${this.key}` }),
    };
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        headers,
        signal,
        body: body && JSON.stringify(body),
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new ApiRefusal(`the server at ${url} does not answer; "retrace up" starts one`, { cause });
    }
    const text = await response.text();
    if (!response.ok) throw new ApiRefusal(refusalOf(response.status, text));
    return text === '' ? null : (JSON.parse(text) as unknown);
  }
}

function refusalOf(status: number, text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: string; readonly detail?: string };
    if (typeof detail === 'string') return `${code ?? status}: ${detail}`;
  } catch {
    // Something other than the API has answered.
  }
  return `the server answered with status ${status}`;
}
