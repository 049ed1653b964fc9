import { AnswerFault } from '../calls/answer-fault.js';
import { messageCounts } from '../calls/usage.js';
import { messageTool } from '../tools/tool-definitions.js';
import { countedUsage, requireText } from './reply-fields.js';
import { estimateTokens, type ChatReply, type TextApi } from './text-api.js';

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

interface MessageAnswer {
  readonly model?: unknown;
  readonly content?: readonly Block[];
  readonly stop_reason?: unknown;
  readonly usage?: unknown;
}

const API_VERSION = '2023-06-01';

/** Anthropic's messages. */
export const ANTHROPIC_REPLIES: TextApi = {
  path: '/v1/messages',
  headers: { 'anthropic-version': API_VERSION },
  maxTemperature: 1,
  lengthFields: ['max_tokens'],
  ask: (model, request, lengthField) => {
    const { messages, stopStrings, tools } = request;
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    return {
      numTokens: estimateTokens(request),
      body: {
        model,
        [lengthField]: request.maxNewTokens,
        ...(system.length > 0 && { system: system.join('\n\n') }),
        messages: messages.filter(({ role }) => role !== 'system'),
        temperature: request.greedy ? 0 : request.temperature,
        // Newer models refuse both of them together.
        ...(request.topP < 1 && { top_p: request.topP }),
        ...(stopStrings.length > 0 && { stop_sequences: stopStrings }),
        ...(tools.length > 0 && { tools: tools.map(messageTool) }),
      },
      read: (answer) => readReply(answer as MessageAnswer | null),
    };
  },
};

function readReply(answer: MessageAnswer | null): ChatReply {
  const blocks = answer?.content;
  if (!Array.isArray(blocks)) throw new AnswerFault('the answer has no list content');
  const { model, stop_reason: stopReason, usage } = answer as MessageAnswer;
  const ofType = (type: string) => (blocks as readonly Block[]).filter((block) => block.type === type);
  return {
    content: ofType('text')
      .map(({ text }) => requireText(text, 'content[].text'))
      .join(''),
    toolCalls: ofType('tool_use').map(({ id, name, input }) => ({
      id: requireText(id, 'content[].id'),
      name: requireText(name, 'content[].name'),
      arguments: JSON.stringify(input ?? {}),
    })),
    stopReason: stopReason === 'max_tokens' ? 'length' : 'stop',
    model: typeof model === 'string' ? model : '',
    usage: countedUsage(usage, messageCounts),
  };
}
