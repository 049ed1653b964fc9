import type { ChatMessage, JsonObject } from '@retrace/client';
import { chatMessage, messagesOfItems, outputOfItems, type ResponsesItem } from '@retrace/client/messages';
import { isJsonObject } from '@retrace/trajectory/json';
import { errorOfAnswer, describeWholeness, type EngineAnswer } from '../calls/answer.js';
import { leadingObjects, listedObjects, asObject, asObjects, asText } from '../json/json-fields.js';
import type { Protocol, RecordedCall, SamplingDefaults } from '../calls/protocol.js';
import { responseUsage } from '../calls/usage.js';
import { ResponseMemory } from './response-memory.js';
import { describeMissingTokens, tokensOfResponse, unreadableField } from './responses-tokens.js';
import { ResponsesReader } from './responses-reader.js';
import { sampledFields } from '../sampling/sampling.js';

/**
 * Reads OpenAI's Responses API, https://platform.openai.com/docs/api-reference/responses.
 *
 * A request may name what the server holds in place of sending it: `previous_response_id`, `conversation`, and items of the type
 * `item_reference`. The recorded prompt holds the items themselves, as far as this proxy has seen them; otherwise only what was sent.
 */
export function createResponses(memory = new ResponseMemory()): Protocol {
  return {
    name: 'responses',
    open(body, defaults) {
      const asked = readRequest(body, memory);
      const record = (answer: EngineAnswer) => {
        remember(memory, asked, answer.body);
        return recordedCall(asked, answer, defaults);
      };
      return {
        prompt: asked.prompt,
        read: (answer) => record({ ...answer, isCut: false }),
        reader: () => new ResponsesReader(record),
      };
    },
  };
}

interface ResponsesRequest {
  readonly body: JsonObject;
  /** Items that were sent, with references resolved. */
  readonly input: readonly ResponsesItem[];
  readonly previousId: string | null;
  readonly conversationId: string | null;
  readonly prompt: readonly ChatMessage[];
}

function readRequest(body: JsonObject, memory: ResponseMemory): ResponsesRequest {
  const input = inputItems(body, memory);
  const conversationId = findConversation(body);
  const previousId =
    asText(body.previous_response_id) ??
    (conversationId === null ? null : memory.lastResponseOf(conversationId));
  const history = (previousId === null ? null : memory.itemsUpTo(previousId)) ?? [];
  const { instructions } = body;
  const system = Array.isArray(instructions)
    ? messagesOfItems(asObjects(instructions))
    : typeof instructions === 'string'
      ? [chatMessage({ role: 'system', content: instructions })]
      : [];
  return {
    body,
    input,
    previousId,
    conversationId,
    prompt: [...system, ...messagesOfItems([...history, ...input])],
  };
}

function inputItems({ input }: JsonObject, memory: ResponseMemory): readonly ResponsesItem[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return (asObjects(input) as readonly ResponsesItem[]).map((item) =>
    // The type may be left out of a reference.
    item.id !== undefined && (item.type === 'item_reference' || Object.keys(item).length === 1)
      ? (memory.item(item.id) ?? item)
      : item,
  );
}

function findConversation({ conversation }: JsonObject): string | null {
  return isJsonObject(conversation) ? asText(conversation.id) : asText(conversation);
}

/** Keeps what later requests may name; the server forgets responses that are not stored, so they are never named. */
function remember(memory: ResponseMemory, asked: ResponsesRequest, answer: JsonObject): void {
  const id = asText(answer.id);
  if (id === null || asked.body.store === false) return;
  const { input, previousId } = asked;
  const conversationId = asked.conversationId ?? findConversation(answer);
  const output = asObjects(answer.output) as readonly ResponsesItem[];
  memory.remember({ id, previousId, conversationId, input, output });
}

function recordedCall(
  asked: ResponsesRequest,
  answer: EngineAnswer,
  defaults: SamplingDefaults,
): RecordedCall {
  const { status, body } = answer;
  const usage = responseUsage(body.usage);
  const wholeness = describeWholeness(answer, {
    unreadable: unreadableField(body),
    missing: describeMissingTokens(body, usage),
  });
  const items = leadingObjects(body.output) as readonly ResponsesItem[];
  return {
    model: asText(body.model) ?? asText(asked.body.model),
    prompt: asked.prompt,
    tools: listedObjects(asked.body.tools),
    output: items.length > 0 || isAnswered(body) ? outputOfItems(items) : null,
    otherOutputs: [],
    finishReason: wholeness.isCut ? null : findFinishReason(body),
    usage,
    ...sampledFields(withToldSampling(asked.body, body), { min_p: 0, ...defaults }),
    tokens: tokensOfResponse(body),
    weightVersion: null,
    responseId: asText(body.id),
    error: errorOfAnswer(status, body) ?? errorOfResponse(status, body),
    ...wholeness,
  };
}

/** Whether the model has answered, if only with nothing: a response in the background is `queued` first. */
function isAnswered({ status }: JsonObject): boolean {
  return status === 'completed' || status === 'incomplete';
}

/** A failed response: HTTP has answered 200 by then. */
function errorOfResponse(status: number, { error }: JsonObject): RecordedCall['error'] {
  if (!isJsonObject(error)) return null;
  return { status, message: asText(error.message) ?? asText(error.code) ?? JSON.stringify(error) };
}

/** Status of the response, or why it is incomplete. */
function findFinishReason({ status, incomplete_details: details }: JsonObject): string | null {
  return asText(asObject(details).reason) ?? asText(status);
}

/** The request with what the answer tells of sampling, which knows the server's defaults. vLLM's responses have no `min_p`. */
function withToldSampling(asked: JsonObject, { temperature, top_p }: JsonObject): JsonObject {
  return {
    ...asked,
    temperature: temperature ?? asked.temperature,
    top_p: top_p ?? asked.top_p,
    max_tokens: asked.max_output_tokens,
  };
}
