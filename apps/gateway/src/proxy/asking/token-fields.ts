import { isJsonObject, modelServer, asObjects, type ModelServerKind } from '@retrace/chat';
import type { JsonObject, JsonValue } from '@retrace/client';

/** Fields asked for in addition to those of a request, and what of the answer to hide. */
export interface HiddenFields {
  /** Fields of the body for the upstream. */
  readonly fields: JsonObject;
  /** Fields of an answer, a chunk or a choice that only these bring. */
  readonly hidden: readonly string[];
}

/** Values of `logprobs` that ask for those of the sampled tokens only. */
const LOGPROBS = { 'chat-completions': true, completions: 0 } as const;

const NOTHING: HiddenFields = { fields: {}, hidden: [] };

/** Asks a server for token ids and log-probabilities, where the request does not ask itself. */
export function tokenFields(
  body: JsonObject,
  upstream: ModelServerKind,
  api: keyof typeof LOGPROBS,
): HiddenFields {
  const { tokens } = modelServer(upstream);
  if (tokens === null) return NOTHING;
  const flags = tokens.idFlags[api];
  const added = Object.keys(flags).filter((flag) => body[flag] !== true);
  const wanted = Object.keys(flags).filter((flag) => body[flag] === true);
  const shown = wanted.flatMap((flag) => flags[flag]);
  const ids: HiddenFields = {
    fields: Object.fromEntries(added.map((flag) => [flag, true])),
    hidden: added.flatMap((flag) => flags[flag]).filter((name) => !shown.includes(name)),
  };
  const logprobs = { fields: { logprobs: LOGPROBS[api] }, hidden: ['logprobs'] };
  return asksForLogprobs(body) ? ids : bothAdded(ids, logprobs);
}

/** Asks for the usage at the end of a stream, where the request does not ask itself: token ids are counted against it. */
export function usageFields(body: JsonObject, upstream: ModelServerKind): HiddenFields {
  if (body.stream !== true || !modelServer(upstream).tellsStreamUsage) return NOTHING;
  const options = isJsonObject(body.stream_options) ? body.stream_options : {};
  if (options.include_usage === true) return NOTHING;
  return { fields: { stream_options: { ...options, include_usage: true } }, hidden: ['usage'] };
}

export function bothAdded(one: HiddenFields, other: HiddenFields): HiddenFields {
  return { fields: { ...one.fields, ...other.fields }, hidden: [...one.hidden, ...other.hidden] };
}

/** Removes from an answer, or from a chunk of it, what only `added` had asked for. */
export function withoutAdded(answer: JsonObject, { hidden }: HiddenFields): JsonObject {
  const shown = withoutFields(answer, hidden);
  if (!Array.isArray(answer.choices)) return shown;
  return { ...shown, choices: asObjects(answer.choices).map((choice) => withoutFields(choice, hidden)) };
}

/** Fields that servers leave out where nobody asked for them. In place of others vLLM writes null. */
const LEFT_OUT: readonly string[] = ['usage', 'response_token_ids'];

function withoutFields(part: JsonObject, names: readonly string[]): JsonObject {
  const shown: Record<string, JsonValue | undefined> = { ...part };
  for (const name of names) {
    if (LEFT_OUT.includes(name)) Reflect.deleteProperty(shown, name);
    else if (name in shown) shown[name] = null;
  }
  return shown;
}

function asksForLogprobs({ logprobs }: JsonObject): boolean {
  return logprobs !== undefined && logprobs !== null && logprobs !== false;
}
