/** What the API said about a request it could not serve (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }

  /** True where asking again may help: the server starts, restarts or could not be reached. */
  get retriable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 502;
  }
}

export type QueryParameters = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The path with its query; parameters that are null, undefined or empty are left out. */
export function pathWithQuery(path: string, parameters: QueryParameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export async function getJson<Answer>(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  return request<Answer>(path, { method: 'GET', signal: options.signal });
}

export async function postJson<Answer>(
  path: string,
  body: unknown,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  return request<Answer>(path, {
    method: 'POST',
    signal: options.signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function request<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await reach(path, init);
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) return body as Answer;
  throw toProblem(response.status, body);
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiProblem(
      0,
      'UNREACHABLE',
      'The server does not answer',
      'Retrace is not running, or it is restarting.',
    );
  }
}

function toProblem(status: number, body: unknown): ApiProblem {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string, otherwise: string): string => {
    const value = problem[name];
    return typeof value === 'string' ? value : otherwise;
  };
  return new ApiProblem(
    status,
    text('code', 'UNKNOWN'),
    text('title', 'The request failed'),
    text('detail', `The server answered with status ${status}.`),
  );
}
