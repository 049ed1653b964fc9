import type { JsonObject, JsonValue, Sampling } from '@retrace/client';
import { isJsonObject, numberOf } from '../json/json-fields.js';
import type { RecordedCall, SamplingDefaults } from '../calls/protocol.js';

/** Values that leave the distribution of the model as it is. */
export const NEUTRAL_SAMPLING: Required<SamplingDefaults> = {
  ...{ temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
};

const NAMES = Object.keys(NEUTRAL_SAMPLING) as readonly (keyof SamplingDefaults)[];

/** The request with neutral values where it states none. The same object where it states all of them. */
export function withNeutralSampling(body: JsonObject): JsonObject {
  const missing = NAMES.filter((name) => isMissing(body[name]));
  if (missing.length === 0) return body;
  return { ...body, ...Object.fromEntries(missing.map((name) => [name, NEUTRAL_SAMPLING[name]])) };
}

type SampledFields = Pick<RecordedCall, 'sampling' | 'statedSampling' | 'untrainable'>;

/**
 * Reads how a call of OpenAI's form was sampled. Where the server took a parameter from files of its model, nobody knows the distribution: the call is untrainable, and
 * if `Sampling` has a field for the parameter, it is recorded as stated, not as sampled.
 *
 * @param body the request, with what its answer tells of sampling
 */
export function sampledFields(body: JsonObject, defaults: SamplingDefaults): SampledFields {
  // The likeliest token is the same whatever cuts the others off.
  const names = body.temperature === 0 ? (['repetition_penalty'] as const) : NAMES;
  const unknown = names.filter((name) => isMissing(body[name]) && defaults[name] === undefined);
  const isExpressible = !unknown.some((name) => name === 'top_p' || name === 'top_k');
  const others = otherParameters(body);
  const reasons = [
    // That nobody knows the temperature is said by `sampling`.
    ...(unknown.some((name) => name !== 'temperature')
      ? [`${unknown.join(', ')} left to the server, which takes them from its model`]
      : []),
    ...(others.length > 0 ? [`sampled with ${others.join(', ')}`] : []),
  ];
  return {
    sampling: isExpressible
      ? samplingOf({ ...body, temperature: body.temperature ?? defaults.temperature })
      : null,
    ...(!isExpressible && { statedSampling: statedOf(body) }),
    ...(reasons.length > 0 && { untrainable: reasons.join('; ') }),
  };
}

function isMissing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function statedOf(body: JsonObject): JsonObject {
  return Object.fromEntries(NAMES.flatMap((name) => (isMissing(body[name]) ? [] : [[name, body[name]]])));
}

/** Reads the sampling parameters that a request gives; null where nobody knows its temperature. */
function samplingOf(body: JsonObject): Sampling | null {
  const temperature = numberOf(body.temperature);
  if (temperature === null) return null;
  const topK = numberOf(body.top_k);
  const topP = numberOf(body.top_p);
  const maxNewTokens = numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens);
  return {
    temperature,
    ...(topK !== null && topK > 0 && { topK }),
    ...(topP !== null && { topP }),
    ...(temperature === 0 && { greedy: true }),
    ...(maxNewTokens !== null && maxNewTokens >= 1 && { maxNewTokens }),
  };
}

type IsOff = (value: JsonValue) => boolean;

const isZero: IsOff = (value) => value === 0;
const isEmpty: IsOff = (value) =>
  Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
const never: IsOff = () => false;

/** Parameters that change the distribution which tokens are sampled from, and that `Sampling` has no field for. */
const OTHER_PARAMETERS: Readonly<Record<string, IsOff>> = {
  min_p: isZero,
  min_tokens: isZero,
  presence_penalty: isZero,
  frequency_penalty: isZero,
  repetition_penalty: (value) => value === 1,
  logit_bias: isEmpty,
  bad_words: isEmpty,
  allowed_token_ids: isEmpty,
  use_beam_search: (value) => value === false,
  response_format: (value) => isJsonObject(value) && value.type === 'text',
  tool_choice: (value) => value === 'auto' || value === 'none',
  structured_outputs: never,
  guided_json: never,
  guided_regex: never,
  guided_choice: never,
  guided_grammar: never,
  regex: never,
  ebnf: never,
  json_schema: never,
};

/** Parameters that make the log-probabilities differ from the distribution that was sampled from. */
function otherParameters(body: JsonObject): readonly string[] {
  return Object.entries(OTHER_PARAMETERS).flatMap(([name, isOff]) => {
    const value = body[name];
    return value === undefined || value === null || isOff(value) ? [] : [name];
  });
}
