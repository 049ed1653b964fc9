import type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  ScoredTokens,
  ScoreRequest,
  TokenApi,
  ServerQuestion,
} from '@retrace/chat';
import type { ServiceClient } from '../http/service-client.js';
import { readAnswer, readJson } from './read-answer.js';
import type { EngineOptions, TokenEngine } from './token-engine.js';

/** A server that is asked over HTTP, by the requests of its kind. */
export class ServedEngine implements TokenEngine {
  constructor(
    private readonly api: TokenApi,
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  async describe(signal?: AbortSignal): Promise<string> {
    const { name, path } = this.api.program;
    const answer = await this.service.request({
      ...{ ...this.options, method: 'GET', path, signal },
      read: (text) => readJson(text) as { readonly version?: unknown } | null,
    });
    return typeof answer?.version === 'string' ? `${name} ${answer.version}` : name;
  }

  likeliest(request: LikeliestRequest): Promise<ReadonlyMap<string, number>> {
    return this.ask(this.api.likeliest(request));
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    return this.ask(this.api.generate(request), signal);
  }

  score(request: ScoreRequest, signal?: AbortSignal): Promise<ScoredTokens> {
    return this.ask(this.api.score(request), signal);
  }

  /** An answer that is malformed is asked for again. */
  private ask<Answer>(
    { body, numTokens, read }: ServerQuestion<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const { timeoutMs, maxRetries, deadlineMs, headers } = this.options;
    return this.service.request({
      ...{ timeoutMs, maxRetries, deadlineMs, headers },
      ...{ path: this.api.path, numTokens, body, signal },
      read: (text) => readAnswer(text, read),
    });
  }
}
