import { completionCounts } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import { readJson } from '../generation/read-answer.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import {
  estimateTokens,
  type CalledTool,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
} from './chat-model.js';
import { countedUsage, textOf } from './read-fields.js';

interface Completion {
  readonly model?: unknown;
  readonly choices?: readonly {
    readonly finish_reason?: unknown;
    readonly message?: {
      readonly content?: unknown;
      readonly tool_calls?: readonly {
        readonly id?: unknown;
        readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
      }[];
    };
  }[];
  readonly usage?: unknown;
}

/** A server of OpenAI's chat completions: OpenAI, vLLM, SGLang, llama.cpp, Ollama and gateways to others. */
export class OpenAiChat implements ChatModel {
  /** OpenAI's reasoning models refuse the field that all other servers know. */
  private lengthField: 'max_tokens' | 'max_completion_tokens' = 'max_tokens';

  constructor(
    private readonly service: ServiceClient,
    private readonly model: string,
    private readonly options: EngineOptions,
  ) {}

  async reply(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const { lengthField } = this;
    try {
      return await this.ask(request, lengthField, signal);
    } catch (error) {
      if (lengthField !== 'max_tokens' || !wantsCompletionTokens(error)) throw error;
      this.lengthField = 'max_completion_tokens';
      return this.ask(request, this.lengthField, signal);
    }
  }

  private ask(request: ChatRequest, lengthField: string, signal?: AbortSignal): Promise<ChatReply> {
    const { stopStrings, tools } = request;
    return this.service.request({
      ...this.options,
      path: '/chat/completions',
      numTokens: estimateTokens(request),
      body: {
        model: this.model,
        messages: request.messages,
        temperature: request.greedy ? 0 : request.temperature,
        ...(request.topP < 1 && { top_p: request.topP }),
        [lengthField]: request.maxNewTokens,
        ...(stopStrings.length > 0 && { stop: stopStrings }),
        ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
      },
      signal,
      read: (text) => readReply(readJson(text) as Completion | null),
    });
  }
}

function readReply(answer: Completion | null): ChatReply {
  const choice = answer?.choices?.[0];
  if (!choice?.message) throw new EndpointError('MALFORMED_ANSWER', 'the answer has no choices[0].message');
  const { content, tool_calls: calls } = choice.message;
  return {
    content: textOf(content ?? '', 'choices[0].message.content'),
    toolCalls: (calls ?? []).map(({ id, function: called }): CalledTool => ({
      id: typeof id === 'string' ? id : '',
      name: textOf(called?.name, 'tool_calls[].function.name'),
      arguments: textOf(called?.arguments ?? '{}', 'tool_calls[].function.arguments'),
    })),
    stopReason: choice.finish_reason === 'length' ? 'length' : 'stop',
    model: typeof answer?.model === 'string' ? answer.model : '',
    usage: countedUsage(answer?.usage, completionCounts),
  };
}

function wantsCompletionTokens(error: unknown): boolean {
  return (
    error instanceof EndpointError && error.status === 400 && error.message.includes('max_completion_tokens')
  );
}
