import { EnvironmentSourceError } from '../errors.js';

const TIMEOUT_MS = 300_000;

/** Asks a server of AgentGym. Its errors come with 200 and `{"error": …}`, or as HTTP 500, by the environment. */
export class AgentGymClient {
  private readonly base: string;

  /** @param url with the path before the verbs, such as `http://127.0.0.1:36001/maze` */
  constructor(url: string) {
    this.base = url.endsWith('/') ? url : `${url}/`;
  }

  /**
   * Sends a request, and returns the answer: an object, a text, a number or a list, by verb and environment.
   *
   * @throws EnvironmentSourceError `SERVER_REFUSED` with the server's words; `SERVER_UNREACHABLE`
   */
  async post(verb: string, body?: object): Promise<unknown> {
    return this.ask(verb, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /**
   * Asks without changing anything.
   *
   * @throws EnvironmentSourceError as `post` does
   */
  async get(verb: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    return this.ask(`${verb}?${new URLSearchParams(query).toString()}`, { method: 'GET' });
  }

  private async ask(verb: string, request: RequestInit): Promise<unknown> {
    let response: Response;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      response = await fetch(new URL(verb, this.base), { ...request, signal });
    } catch (cause) {
      const reason =
        (cause as Error).cause instanceof Error ? ((cause as Error).cause as Error) : (cause as Error);
      throw new EnvironmentSourceError('SERVER_UNREACHABLE', `${verb} on ${this.base}: ${reason.message}`, {
        cause,
      });
    }
    if (!response.ok) throw this.refused(verb, `HTTP ${response.status}`);
    const answer = (await response.json()) as unknown;
    const fault =
      typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
    if (fault !== undefined)
      throw this.refused(verb, typeof fault === 'string' ? fault : JSON.stringify(fault));
    return answer;
  }

  private refused(verb: string, words: string): EnvironmentSourceError {
    return new EnvironmentSourceError('SERVER_REFUSED', `${verb} on ${this.base}: ${words}`);
  }
}
