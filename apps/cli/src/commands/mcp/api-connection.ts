import type { KeyScope } from '@retrace/process';
import { parsedObject } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
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

  /**
   * Scopes of the key; null: all, as the server asks for no key.
   *
   * @throws CliError `KEY_UNKNOWN` where it asks for one and does not know this one
   */
  async scopes(): Promise<readonly KeyScope[] | null> {
    const session = (await this.call({ method: 'GET', path: '/api/session' })) as Session;
    if (!session.needsKey) return null;
    if (session.keyId !== null) return session.scopes;
    const fault = this.key === null ? 'is not set' : 'has none that it knows';
    throw new CliError(
      'KEY_UNKNOWN',
      `the server asks for a key, and RETRACE_API_KEY ${fault}; "retrace keys create" makes one`,
    );
  }

  /** @throws ApiRefusal where the server refuses, does not answer, or is none of Retrace */
  async call({ method, path, body }: ApiRequest, signal?: AbortSignal): Promise<unknown> {
    const url = (await this.findUrl()).replace(/\/+$/, '');
    const headers = {
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(this.key !== null && { authorization: `Bearer ${this.key}` }),
    };
    const request = { method, headers, signal, body: body && JSON.stringify(body) };
    const { status, ok, text } = await fetchAnswer(`${url}${path}`, request).catch((cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw new ApiRefusal(`the server at ${url} does not answer; "retrace up" starts one`, { cause });
    });
    if (!ok) throw new ApiRefusal(describeRefusal(status, text));
    if (text === '') return null;
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new ApiRefusal(`what answers at ${url} is no API of Retrace`, { cause });
    }
  }
}

interface Session {
  readonly needsKey: boolean;
  readonly keyId: string | null;
  readonly scopes: readonly KeyScope[];
}

async function fetchAnswer(url: string, request: RequestInit) {
  const response = await fetch(url, request);
  return { status: response.status, ok: response.ok, text: await response.text() };
}

function describeRefusal(status: number, text: string): string {
  // Null where something other than the API has answered.
  const { code, detail } = parsedObject(text) ?? {};
  if (typeof detail !== 'string') return `the server answered with status ${status}`;
  return `${typeof code === 'string' ? code : status}: ${detail}`;
}
