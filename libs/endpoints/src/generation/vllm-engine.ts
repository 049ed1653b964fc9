import { EndpointError } from '../endpoint-error.js';
import type { ServiceClient } from '../http/service-client.js';
import { describeServer } from './describe-server.js';
import { readJson, readLogprobs, readTokenIds } from './read-answer.js';
import type {
  EngineOptions,
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  TokenEngine,
} from './token-engine.js';

interface Choice {
  readonly token_ids?: unknown;
  readonly finish_reason?: unknown;
  readonly stop_reason?: unknown;
  readonly logprobs?: {
    readonly token_logprobs?: unknown;
    readonly top_logprobs?: readonly Readonly<Record<string, number>>[];
  } | null;
}

interface CompletionBody extends Readonly<Record<string, unknown>> {
  readonly prompt: readonly number[];
  readonly max_tokens: number;
}

/** The server's own default of each would otherwise come from the model's `generation_config.json`. */
const PLAIN_SAMPLING = { min_p: 0, repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 };

/**
 * vLLM's server (checked with 0.32), by its completions with token ids. Seeds are not sent: sampling depends on the batch all the same, and
 * on a CPU the engine ends when two requests with seeds share one ("CPU Generator does not use offset").
 */
export class VllmEngine implements TokenEngine {
  constructor(
    private readonly service: ServiceClient,
    private readonly options: EngineOptions,
  ) {}

  describe(signal?: AbortSignal): Promise<string> {
    const { service, options } = this;
    return describeServer({ service, options, name: 'vllm', path: '/version', signal });
  }

  async likeliest({ tokenIds, model, temperature, numTokens }: LikeliestRequest) {
    return this.complete(
      {
        model,
        prompt: tokenIds,
        max_tokens: 1,
        temperature,
        top_k: -1,
        top_p: 1,
        logprobs: numTokens,
        // Different tokens may have one text.
        return_tokens_as_token_ids: true,
      },
      ({ logprobs }) => new Map(Object.entries(logprobs?.top_logprobs?.[0] ?? {})),
    );
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    const { tokenIds, stopStrings } = request;
    return this.complete(
      {
        model: request.model,
        prompt: Array.from(tokenIds),
        max_tokens: request.maxNewTokens,
        temperature: request.greedy ? 0 : request.temperature,
        top_k: request.topK === 0 ? -1 : request.topK,
        top_p: request.topP,
        logprobs: 0,
        // Only the tokens that are named end a turn.
        ignore_eos: true,
        stop_token_ids: request.stopTokenIds,
        ...(stopStrings.length > 0 && { stop: stopStrings }),
      },
      readGenerated,
      signal,
    );
  }

  /** @param read an answer that it calls malformed is asked for again */
  private async complete<Answer>(
    body: CompletionBody,
    read: (choice: Choice) => Answer,
    signal?: AbortSignal,
  ): Promise<Answer> {
    return this.service.request({
      ...this.options,
      path: '/v1/completions',
      numTokens: body.prompt.length + body.max_tokens,
      body: { ...PLAIN_SAMPLING, ...body, return_token_ids: true },
      signal,
      read: (text) => {
        const choice = (readJson(text) as { readonly choices?: readonly Choice[] } | null)?.choices?.[0];
        if (choice === undefined) throw new EndpointError('MALFORMED_ANSWER', 'the answer has no choices[0]');
        return read(choice);
      },
    });
  }
}

function readGenerated(choice: Choice): GeneratedTokens {
  const tokenIds = readTokenIds(choice.token_ids, 'choices[0].token_ids');
  const logprobs = readLogprobs(choice.logprobs?.token_logprobs, {
    field: 'choices[0].logprobs.token_logprobs',
    length: tokenIds.length,
  });
  const isString = typeof choice.stop_reason === 'string';
  const stopReason = choice.finish_reason !== 'stop' ? 'length' : isString ? 'stopString' : 'stopToken';
  return { tokenIds, logprobs, versions: null, stopReason };
}
