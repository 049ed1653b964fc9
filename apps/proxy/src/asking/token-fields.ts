import {
  isJsonObject,
  modelServer,
  objectsOf,
  PROMPT_IDS,
  SAMPLED_IDS,
  type ModelServerKind,
} from '@retrace/chat';
import type { JsonObject, JsonValue } from '@retrace/client';

/**
 * Fields that ask a server for token ids and log-probabilities, where the request does not ask itself.
 *
 * @param logprobs value of `logprobs` that asks for those of the sampled tokens only
 */
export function tokenFields(body: JsonObject, upstream: ModelServerKind, logprobs: JsonValue): JsonObject {
  const { tokens } = modelServer(upstream);
  if (tokens === null) return {};
  const flags = tokens.idFlags.filter((name) => body[name] !== true);
  return {
    ...Object.fromEntries(flags.map((name) => [name, true])),
    ...(!asksForLogprobs(body) && { logprobs }),
  };
}

/** Asks for the usage at the end of a stream, where the request does not ask itself: token ids are counted against it. */
export function usageFields(body: JsonObject, upstream: ModelServerKind): JsonObject {
  if (body.stream !== true || !modelServer(upstream).tellsStreamUsage) return {};
  const options = isJsonObject(body.stream_options) ? body.stream_options : {};
  return options.include_usage === true ? {} : { stream_options: { ...options, include_usage: true } };
}

/**
 * Removes from an answer, or from a chunk of it, what only `added` had asked for. vLLM writes null in place of ids and log-probabilities
 * that nobody asked for.
 */
export function withoutAdded(answer: JsonObject, added: JsonObject): JsonObject {
  const hidden: Fields = { ...answer };
  if ('return_token_ids' in added && PROMPT_IDS in hidden) hidden[PROMPT_IDS] = null;
  if ('stream_options' in added) Reflect.deleteProperty(hidden, 'usage');
  if (Array.isArray(answer.choices))
    hidden.choices = objectsOf(answer.choices).map((choice) => choiceWithoutAdded(choice, added));
  return hidden;
}

type Fields = Record<string, JsonValue | undefined>;

function choiceWithoutAdded(choice: JsonObject, added: JsonObject): JsonObject {
  const hidden: Fields = { ...choice };
  const [ofVllm, ofSglang] = SAMPLED_IDS;
  if ('return_token_ids' in added) {
    for (const name of [PROMPT_IDS, ofVllm]) if (name in hidden) hidden[name] = null;
    Reflect.deleteProperty(hidden, ofSglang);
  }
  if ('logprobs' in added && 'logprobs' in hidden) hidden.logprobs = null;
  return hidden;
}

function asksForLogprobs({ logprobs }: JsonObject): boolean {
  return logprobs !== undefined && logprobs !== null && logprobs !== false;
}
