import type { ChatMessage } from '../wire/records.js';
import { chatMessage, contentOf } from './chat-message.js';
import type { AgentsSpan, ResponseFields } from './openai-agents-spans.js';
import { reasoningOf } from './reasoning.js';
import type { ModelCall } from './recorded-agent.js';
import { messagesOfItems, outputOfItems, partsOf } from './responses-messages.js';

/** A call of the Responses API. */
export function responseCall(span: AgentsSpan, response: ResponseFields): ModelCall {
  const { instructions, output, previous_response_id, conversation, status, tools } = response;
  const system =
    typeof instructions === 'string' ? [chatMessage({ role: 'system', content: instructions })] : [];
  // The provider holds what came before: the input is only what is new.
  const isDelta = previous_response_id != null || conversation != null;
  const prompt = messagesOfItems(span.spanData._input);
  return {
    prompt: isDelta ? prompt : [...system, ...prompt],
    isDelta,
    output: outputOfItems(output),
    model: response.model ?? '',
    engine: 'openai.responses',
    ...callFields(span, response.usage, { temperature: response.temperature, top_p: response.top_p }),
    ...(status !== undefined && { finishReason: status }),
    ...(tools && { offeredTools: tools }),
  };
}

interface Completion {
  readonly model?: string;
  readonly choices?: readonly { readonly message?: ChatMessage; readonly finish_reason?: string }[];
  readonly usage?: unknown;
}

/** A call of the chat completions API: input and output have its own shapes. */
export function generationCall(span: AgentsSpan): ModelCall {
  const { input, output, model, model_config, usage } = span.spanData;
  const [completion] = (Array.isArray(output) ? output : []) as (Completion & Partial<ChatMessage>)[];
  const choice = completion?.choices?.[0];
  const message =
    choice?.message ?? (completion?.role === undefined ? undefined : (completion as ChatMessage));
  return {
    prompt: (Array.isArray(input) ? (input as ChatMessage[]) : []).map(plainMessage),
    output: message ? plainMessage(message) : null,
    model: completion?.model ?? model ?? '',
    engine: 'openai.chat',
    ...callFields(span, completion?.usage ?? usage, model_config),
    ...(choice?.finish_reason !== undefined && { finishReason: choice.finish_reason }),
  };
}

/** A message of chat completions, whose content the SDK may have written as parts. */
function plainMessage(message: ChatMessage): ChatMessage {
  const content = contentOf(partsOf(message.content));
  return chatMessage({ ...message, content, reasoning_content: reasoningOf(message) });
}

function callFields(
  span: AgentsSpan,
  usage: unknown,
  { temperature, top_p }: Readonly<Record<string, unknown>> = {},
): Pick<ModelCall, 'usage' | 'sampling' | 'generationMs'> {
  const counts = (usage ?? {}) as Readonly<Record<string, unknown>>;
  const detail = (...names: string[]) =>
    names.map((name) => (counts[name] ?? {}) as Readonly<Record<string, unknown>>);
  const [inputDetails, promptDetails] = detail('input_tokens_details', 'prompt_tokens_details');
  const [outputDetails, completionDetails] = detail('output_tokens_details', 'completion_tokens_details');
  return {
    usage: {
      inputTokens: readNumber(counts.input_tokens, counts.prompt_tokens),
      cachedInputTokens: readNumber(inputDetails.cached_tokens, promptDetails.cached_tokens),
      outputTokens: readNumber(counts.output_tokens, counts.completion_tokens),
      reasoningTokens: readNumber(outputDetails.reasoning_tokens, completionDetails.reasoning_tokens),
    },
    ...(typeof temperature === 'number' && {
      sampling: { temperature, ...(typeof top_p === 'number' && { topP: top_p }) },
    }),
    ...readDuration(span),
  };
}

function readNumber(...values: readonly unknown[]): number | null {
  return values.find((value) => typeof value === 'number') ?? null;
}

/** The time between the start and the end of a span; nothing where either is missing. */
export function readDuration({ startedAt, endedAt }: AgentsSpan): { generationMs?: number } {
  if (startedAt === null || endedAt === null) return {};
  return { generationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) };
}
