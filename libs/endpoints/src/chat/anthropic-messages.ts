import { messageCounts, messageTool } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import { readJson } from '../generation/read-answer.js';
import type { EngineOptions } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { estimateTokens, type ChatModel, type ChatReply, type ChatRequest } from './chat-model.js';
import { countedUsage, textOf } from './read-fields.js';

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

interface Message {
  readonly model?: unknown;
  readonly content?: readonly Block[];
  readonly stop_reason?: unknown;
  readonly usage?: unknown;
}

const API_VERSION = '2023-06-01';

/** A server of Anthropic's messages. Its temperature is at most 1. */
export class AnthropicMessages implements ChatModel {
  constructor(
    private readonly service: ServiceClient,
    private readonly model: string,
    private readonly options: EngineOptions,
  ) {}

  reply(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const { messages, stopStrings, tools } = request;
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    return this.service.request({
      ...this.options,
      headers: { ...this.options.headers, 'anthropic-version': API_VERSION },
      path: '/v1/messages',
      numTokens: estimateTokens(request),
      body: {
        model: this.model,
        max_tokens: request.maxNewTokens,
        ...(system.length > 0 && { system: system.join('\n\n') }),
        messages: messages.filter(({ role }) => role !== 'system'),
        temperature: request.greedy ? 0 : request.temperature,
        // Newer models refuse both of them together.
        ...(request.topP < 1 && { top_p: request.topP }),
        ...(stopStrings.length > 0 && { stop_sequences: stopStrings }),
        ...(tools.length > 0 && { tools: tools.map(messageTool) }),
      },
      signal,
      read: (text) => readReply(readJson(text) as Message | null),
    });
  }
}

function readReply(answer: Message | null): ChatReply {
  const blocks = answer?.content;
  if (!Array.isArray(blocks)) throw new EndpointError('MALFORMED_ANSWER', 'the answer has no list content');
  const { model, stop_reason: stopReason, usage } = answer as Message;
  const ofType = (type: string) => (blocks as readonly Block[]).filter((block) => block.type === type);
  return {
    content: ofType('text')
      .map(({ text }) => textOf(text, 'content[].text'))
      .join(''),
    toolCalls: ofType('tool_use').map(({ id, name, input }) => ({
      id: textOf(id, 'content[].id'),
      name: textOf(name, 'content[].name'),
      arguments: JSON.stringify(input ?? {}),
    })),
    stopReason: stopReason === 'max_tokens' ? 'length' : 'stop',
    model: typeof model === 'string' ? model : '',
    usage: countedUsage(usage, messageCounts),
  };
}
