import { AnswerFault } from '../calls/answer-fault.js';
import { completionCounts } from '../calls/usage.js';
import { countedUsage, requireText } from './reply-fields.js';
import { estimateTokens, type CalledTool, type ChatReply, type TextApi } from './text-api.js';

interface ChatAnswer {
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

/** OpenAI's chat completions, as OpenAI, vLLM, SGLang, llama.cpp, Ollama and gateways to others serve them. */
export const OPENAI_REPLIES: TextApi = {
  path: '/chat/completions',
  maxTemperature: 2,
  // OpenAI's reasoning models refuse the field that all other servers know.
  lengthFields: ['max_tokens', 'max_completion_tokens'],
  ask: (model, request, lengthField) => ({
    numTokens: estimateTokens(request),
    body: {
      model,
      messages: request.messages,
      temperature: request.greedy ? 0 : request.temperature,
      ...(request.topP < 1 && { top_p: request.topP }),
      [lengthField]: request.maxNewTokens,
      ...(request.stopStrings.length > 0 && { stop: request.stopStrings }),
      ...(request.tools.length > 0 && {
        tools: request.tools.map((tool) => ({ type: 'function', function: tool })),
      }),
    },
    read: (answer) => readReply(answer as ChatAnswer | null),
  }),
};

function readReply(answer: ChatAnswer | null): ChatReply {
  const choice = answer?.choices?.[0];
  if (!choice?.message) throw new AnswerFault('the answer has no choices[0].message');
  const { content, tool_calls: calls } = choice.message;
  return {
    content: requireText(content ?? '', 'choices[0].message.content'),
    toolCalls: (calls ?? []).map(({ id, function: called }): CalledTool => ({
      id: typeof id === 'string' ? id : '',
      name: requireText(called?.name, 'tool_calls[].function.name'),
      arguments: requireText(called?.arguments ?? '{}', 'tool_calls[].function.arguments'),
    })),
    stopReason: choice.finish_reason === 'length' ? 'length' : 'stop',
    model: typeof answer?.model === 'string' ? answer.model : '',
    usage: countedUsage(answer?.usage, completionCounts),
  };
}
