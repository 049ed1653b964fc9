import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHAT_FORM, COMPLETIONS_FORM, NEUTRAL_SAMPLING } from '@retrace/chat';
import type { PageRefusal } from '@retrace/page-guard';
import { GatewayServer, type RunningGateway } from '../../http/gateway-server.js';
import { sendMetrics } from '../../http/metrics.js';
import { readWholeBody } from '../../http/read-body.js';
import { pageError, RequestError } from '../../http/request-error.js';
import { sendError, sendJson } from '../../http/send-answer.js';
import type { ServingEngine } from '../engine/serving-engine.js';
import { readChat } from '../protocol/chat-request.js';
import { readCompletions } from '../protocol/completions-request.js';
import { readJsonBody } from '../protocol/json-body.js';
import type { RequestFields } from '../protocol/request-fields.js';
import type { ServeConfig } from '../serve-config.js';
import type { PolicySupply } from '../supply/policy-supply.js';
import { answerClient, type AskedAnswer } from './answer-request.js';
import { toRequestError } from './failed-answer.js';
import { KeyGuard } from './key-guard.js';
import { ServeMetrics } from './serve-metrics.js';

/** Longest that answers under way may take after a request to stop. */
const STOP_MS = 5_000;
const CLIENT_GONE = 499;

interface ServerParts {
  readonly config: ServeConfig;
  readonly supply: PolicySupply;
  readonly engine: ServingEngine;
  readonly contextLength: number;
  /** Name and version of the program. */
  readonly version: string;
  readonly warn: (message: string) => void;
}

/** The HTTP server of a policy. */
export class ServeServer {
  private readonly server: GatewayServer;
  private readonly keys: KeyGuard;
  private readonly metrics: ServeMetrics;
  private readonly startedAt = Math.floor(Date.now() / 1000);

  constructor(private readonly parts: ServerParts) {
    this.keys = new KeyGuard({ ...parts.config, onWarning: parts.warn });
    this.metrics = new ServeMetrics(parts.engine, parts.supply);
    this.server = new GatewayServer({
      ...parts.config,
      stopMs: STOP_MS,
      warn: parts.warn,
      handle: (request, client, refusal) => this.handle(request, client, refusal),
    });
  }

  /** Listens, as `GatewayServer` does. */
  listen(closeParts: () => Promise<void>): Promise<RunningGateway> {
    return this.server.listen(() => this.keys.close().then(closeParts));
  }

  private async handle(
    request: IncomingMessage,
    client: ServerResponse,
    refusal: PageRefusal | null,
  ): Promise<void> {
    const [path] = (request.url ?? '/').split('?');
    const route = `${request.method} ${path}`;
    const timer = this.metrics.seconds.startTimer();
    try {
      if (refusal !== null) throw pageError(refusal);
      await this.route(route, request, client);
    } catch (error) {
      this.fail(error, client);
    }
    if (request.method !== 'POST') return;
    timer();
    const status = client.headersSent ? client.statusCode : CLIENT_GONE;
    this.metrics.requests.inc({ path: KNOWN_PATHS.includes(path) ? path : 'other', status });
  }

  private async route(route: string, request: IncomingMessage, client: ServerResponse): Promise<void> {
    const { supply, version } = this.parts;
    if (route === 'GET /health') {
      sendJson(client, 200, {
        status: 'ok',
        model: supply.name,
        run_id: supply.runId,
        policy_version: supply.policyVersion,
      });
      return;
    }
    await this.keys.check(request.headers);
    switch (route) {
      case 'GET /version':
        sendJson(client, 200, {
          version,
          tokenizer_hash: supply.text.tokenizer.hash,
          // Recorders can't see otherwise how tokens are sampled where a request leaves these out.
          sampling_defaults: NEUTRAL_SAMPLING,
        });
        return;
      case 'GET /metrics':
        await sendMetrics(client, this.metrics.registry);
        return;
      case 'GET /v1/models':
        sendJson(client, 200, { object: 'list', data: [this.modelCard()] });
        return;
      case 'POST /v1/chat/completions':
        await this.answer(request, client, (fields) => {
          const { prompt, ...chat } = readChat(fields, supply);
          return { ...chat, prompts: [prompt], scoresPrompts: false, form: CHAT_FORM };
        });
        return;
      case 'POST /v1/completions':
        await this.answer(request, client, (fields) => ({
          ...readCompletions(fields, supply),
          tools: null,
          form: COMPLETIONS_FORM,
        }));
        return;
      default:
        throw new RequestError(`No route for ${route}`, { status: 404, code: 'not_found' });
    }
  }

  private async answer(
    request: IncomingMessage,
    client: ServerResponse,
    read: (fields: RequestFields) => AskedAnswer,
  ): Promise<void> {
    const { maxBodyBytes, takesAnyModel = false } = this.parts.config;
    const fields = readJsonBody(await readWholeBody(request, maxBodyBytes));
    const model = fields.text('model');
    const { name } = this.parts.supply;
    if (model !== null && model !== name && !takesAnyModel) {
      throw new RequestError(`The model "${model}" does not exist; this server has "${name}"`, {
        status: 404,
        param: 'model',
        code: 'model_not_found',
      });
    }
    await answerClient(this.parts, read(fields), client);
  }

  private fail(error: unknown, client: ServerResponse): void {
    if (client.headersSent || client.destroyed) {
      client.destroy();
      return;
    }
    const told = toRequestError(error);
    if (told.status >= 500) this.parts.warn(`A request failed: ${told.message}`);
    if (told.status === 429) client.setHeader('retry-after', '1');
    sendError(client, told);
  }

  private modelCard(): object {
    const { supply, contextLength } = this.parts;
    return {
      id: supply.name,
      object: 'model',
      created: this.startedAt,
      owned_by: 'retrace',
      max_model_len: contextLength,
      run_id: supply.runId,
      policy_version: supply.policyVersion,
    };
  }
}

const KNOWN_PATHS: readonly string[] = ['/v1/chat/completions', '/v1/completions'];
