import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface CompletionBody {
  readonly model: string;
  readonly prompt: readonly number[];
  readonly prompt_logprobs?: number;
  readonly logprobs?: number;
}

/** A turn that a stand-in was asked for. */
export interface SampledRequest {
  readonly model: string;
  readonly prompt: readonly number[];
}

const TOKEN = 5;

/**
 * A real HTTP server with the routes of vLLM 0.32 that serves adapters, and the fields of its recorded answers (`libs/endpoints`). It has no model: each turn is one
 * token, and scores are those that a test gives. Weights are names: it knows those that were loaded and not unloaded.
 */
export class VllmStandIn {
  readonly turns: SampledRequest[] = [];
  /** Names in the order in which they were loaded. */
  readonly loaded: string[] = [];
  /** Called before each turn is answered; a status refuses it. */
  onTurn: (request: SampledRequest) => Promise<number | undefined> | number | undefined = () => undefined;
  /** Called before an adapter is loaded; a status refuses it. */
  onLoad: (name: string) => Promise<number | undefined> | number | undefined = () => undefined;
  /** Logprobs of the tokens of a prompt by the weights of that name. */
  scores: (model: string, prompt: readonly number[]) => ArrayLike<number> = (_, prompt) =>
    prompt.map(() => -1);
  private adapters = new Set<string>();
  private server: Server | null = null;
  private port = 0;

  static async start(): Promise<VllmStandIn> {
    const standIn = new VllmStandIn();
    await standIn.restart();
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Ends it as a kill does: connections break, and adapters are forgotten. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    this.adapters = new Set();
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** Starts it, after a stop at the address that it had. */
  async restart(): Promise<void> {
    const server = createServer((request, response) => {
      void this.answer(request)
        .catch((error: unknown) => ({ status: 500, body: { error: { message: `${error}` } } }))
        .then(({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body));
        });
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const { url, method } = request;
    const asked: unknown = method === 'POST' ? await json(request) : null;
    switch (url) {
      case '/version':
        return { status: 200, body: { version: '0.32.0' } };
      case '/v1/models':
        return { status: 200, body: { data: ['tiny', ...this.adapters].map((id) => ({ id })) } };
      case '/v1/load_lora_adapter': {
        const name = (asked as { lora_name: string }).lora_name;
        const status = await this.onLoad(name);
        // As without the route, which vLLM has only when it was started with adapters.
        if (status === 404) return { status, body: { detail: 'Not Found' } };
        if (status !== undefined) return refusal(status);
        this.adapters.add(name);
        this.loaded.push(name);
        return { status: 200, body: `Success: LoRA adapter '${name}' added successfully.` };
      }
      case '/v1/unload_lora_adapter':
        this.adapters.delete((asked as { lora_name: string }).lora_name);
        return { status: 200, body: 'Success' };
      case '/v1/completions':
        return this.complete(asked as CompletionBody);
      default:
        return { status: 404, body: { detail: 'Not Found' } };
    }
  }

  private async complete(body: CompletionBody): Promise<{ status: number; body: unknown }> {
    const { model, prompt } = body;
    if (!this.adapters.has(model)) return refusal(404, `The model \`${model}\` does not exist.`);
    const answered = (choice: object) => ({
      status: 200,
      body: { choices: [{ index: 0, ...choice }], usage: { completion_tokens: 1 } },
    });
    if (body.prompt_logprobs !== undefined) {
      const scores = this.scores(model, prompt);
      const entries = prompt.map((token, n) => (n === 0 ? null : { [token]: { logprob: scores[n] } }));
      return answered({ prompt_logprobs: entries, token_ids: [TOKEN], finish_reason: 'length' });
    }
    // The same at each temperature, as raw ones are.
    if (body.logprobs !== 0)
      return answered({ logprobs: { top_logprobs: [{ 'token_id:1': -0.5, 'token_id:2': -1.5 }] } });
    this.turns.push({ model, prompt });
    const status = await this.onTurn({ model, prompt });
    if (status !== undefined) return refusal(status);
    const logprobs = { token_logprobs: [-0.5] };
    return answered({ logprobs, token_ids: [TOKEN], finish_reason: 'length', stop_reason: null });
  }
}

function refusal(code: number, message = 'refused by the test'): { status: number; body: unknown } {
  return { status: code, body: { error: { message, type: 'error', param: null, code } } };
}
