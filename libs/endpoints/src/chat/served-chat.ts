import type { ChatReply, ChatRequest, TextApi } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import { readAnswer } from '../generation/read-answer.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';

/** A model that answers a conversation with text, and does not say which tokens it sampled. */
export interface ChatModel {
  /** @throws EndpointError; the signal's reason once it aborts */
  reply(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply>;
}

interface ServedChatOptions extends EngineOptions {
  /** Name of the model on the server. */
  readonly model: string;
}

const INVALID = 400;

/** A model behind one of the APIs that answer with text. */
export class ServedChat implements ChatModel {
  /** Place among the fields of the API for the longest answer: the one that the server took last. */
  private lengthFieldIndex = 0;

  constructor(
    private readonly api: TextApi,
    private readonly service: ServiceClient,
    private readonly options: ServedChatOptions,
  ) {}

  async reply(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const { lengthFields } = this.api;
    const at = this.lengthFieldIndex;
    try {
      return await this.ask(request, lengthFields[at], signal);
    } catch (error) {
      const next = lengthFields.at(at + 1);
      if (next === undefined || !wants(error, next)) throw error;
      this.lengthFieldIndex = at + 1;
      return this.ask(request, next, signal);
    }
  }

  private ask(request: ChatRequest, lengthField: string, signal?: AbortSignal): Promise<ChatReply> {
    const { model, headers, ...options } = this.options;
    const { body, numTokens, read } = this.api.ask(model, request, lengthField);
    return this.service.request({
      ...{ ...options, headers: { ...headers, ...this.api.headers }, path: this.api.path },
      ...{ numTokens, body, signal, read: (text) => readAnswer(text, read) },
    });
  }
}

function wants(error: unknown, field: string): boolean {
  return error instanceof EndpointError && error.status === INVALID && error.message.includes(field);
}
