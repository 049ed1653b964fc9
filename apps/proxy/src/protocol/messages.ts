import type { ChatMessage, JsonObject, TokenUsage } from '@retrace/client';
import { anthropicAnswer, anthropicMessages } from '@retrace/client/messages';
import { errorOfAnswer } from './answer-error.js';
import { addingCall, wholenessOf, type EngineAnswer } from './engine-call.js';
import {
  hasOnlyObjects,
  isObject,
  leadingObjects,
  listedObjects,
  numberOf,
  objectOf,
  textOf,
} from './json-fields.js';
import { MessagesReader } from './messages-reader.js';
import type { Protocol, RecordedCall, SamplingDefaults } from './protocol.js';
import { knownDefaults, sampledFields } from './sampling.js';

/** Reads Anthropic's Messages API, https://docs.anthropic.com/en/api/messages. */
export const MESSAGES: Protocol = {
  name: 'messages',
  prepare(body, upstream, defaults = knownDefaults(upstream)) {
    const prompt = anthropicMessages(body);
    const record = (answer: EngineAnswer) => recordedCall({ asked: body, prompt, defaults }, answer);
    return {
      prompt,
      ...addingCall(body, {}),
      read: (answer) => record({ ...answer, isCut: false }),
      reader: () => new MessagesReader(record),
    };
  },
};

interface ReadRequest {
  readonly asked: JsonObject;
  readonly prompt: readonly ChatMessage[];
  readonly defaults: SamplingDefaults;
}

function recordedCall({ asked, prompt, defaults }: ReadRequest, answer: EngineAnswer): RecordedCall {
  const { status, body } = answer;
  const blocks = leadingObjects(body.content);
  const { sampling, statedSampling } = sampledFields(asked, defaults);
  return {
    model: textOf(body.model) ?? textOf(asked.model),
    prompt,
    tools: listedObjects(asked.tools),
    output: blocks.length > 0 || isAnswered(body) ? anthropicAnswer(blocks) : null,
    otherOutputs: [],
    finishReason: textOf(body.stop_reason),
    usage: usageOf(objectOf(body.usage)),
    sampling,
    ...(statedSampling !== undefined && { statedSampling }),
    tokens: null,
    weightVersion: null,
    responseId: textOf(body.id),
    error: errorOfAnswer(status, body) ?? errorInStream(status, body),
    ...wholenessOf(answer, { unreadable: hasOnlyObjects(body.content) ? undefined : 'content' }),
  };
}

/** Whether the model has answered, if only with nothing, as it may after results of tools. */
function isAnswered({ stop_reason }: JsonObject): boolean {
  return typeof stop_reason === 'string';
}

/** An error that came after the answer had begun. */
function errorInStream(status: number, { error }: JsonObject): RecordedCall['error'] {
  if (!isObject(error)) return null;
  return { status, message: textOf(error.message) ?? JSON.stringify(error) };
}

/** Anthropic counts tokens that the cache gave, and those that it took in, beside `input_tokens`; here they are a part of the input. */
function usageOf(usage: JsonObject): TokenUsage | null {
  const fresh = numberOf(usage.input_tokens);
  const cached = numberOf(usage.cache_read_input_tokens);
  const outputTokens = numberOf(usage.output_tokens);
  if (fresh === null && outputTokens === null) return null;
  const written = numberOf(usage.cache_creation_input_tokens) ?? 0;
  return {
    inputTokens: fresh === null ? null : fresh + (cached ?? 0) + written,
    cachedInputTokens: cached,
    outputTokens,
  };
}
