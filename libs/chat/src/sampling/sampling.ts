import type { JsonObject, JsonValue, Sampling } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { asNumber } from '../json/json-fields.js';
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
      ? findSampling({ ...body, temperature: body.temperature ?? defaults.temperature })
      : null,
    ...(!isExpressible && { statedSampling: readStated(body) }),
    ...(reasons.length > 0 && { untrainable: reasons.join('; ') }),
  };
}

function isMissing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function readStated(body: JsonObject): JsonObject {
  return Object.fromEntries(NAMES.flatMap((name) => (isMissing(body[name]) ? [] : [[name, body[name]]])));
}

/** Reads the sampling parameters that a request gives; null where nobody knows its temperature. */
function findSampling(body: JsonObject): Sampling | null {
  const temperature = asNumber(body.temperature);
  if (temperature === null) return null;
  const topK = asNumber(body.top_k);
  const topP = asNumber(body.top_p);
  const maxNewTokens = asNumber(body.max_completion_tokens) ?? asNumber(body.max_tokens);
  return {
    temperature,
    ...(topK !== null && topK > 0 && { topK }),
    ...(topP !== null && { topP }),
    ...(temperature === 0 && { greedy: true }),
    ...(maxNewTokens !== null && maxNewTokens >= 1 && { maxNewTokens }),
  };
}

/**
 * Parameters that change the distribution which tokens are sampled from, and that `Sampling` has no field for, each with the values that leave it as it is;
 * none: any value changes it.
 */
export const DISTRIBUTION_PARAMETERS = {
  min_p: [0],
  min_tokens: [0],
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
  logit_bias: [{}],
  bad_words: [[]],
  allowed_token_ids: [[]],
  use_beam_search: [false],
  response_format: [{ type: 'text' }],
  tool_choice: ['auto', 'none'],
  structured_outputs: [],
  guided_json: [],
  guided_regex: [],
  guided_choice: [],
  guided_grammar: [],
  regex: [],
  ebnf: [],
  json_schema: [],
} as const satisfies Readonly<Record<string, readonly JsonValue[]>>;

/** Parameters that make the log-probabilities differ from the distribution that was sampled from. */
function otherParameters(body: JsonObject): readonly string[] {
  return Object.entries<readonly JsonValue[]>(DISTRIBUTION_PARAMETERS).flatMap(([name, neutral]) => {
    const value = body[name];
    return isMissing(value) || neutral.some((each) => isLike(value, each)) ? [] : [name];
  });
}

/** Whether a value has no effect as the neutral one has none: an object may have more fields than that, and an empty list is an empty object. */
function isLike(value: JsonValue | undefined, neutral: JsonValue): boolean {
  if (typeof neutral !== 'object' || neutral === null) return value === neutral;
  if (typeof value !== 'object' || value === null) return false;
  const fields = Object.entries(neutral);
  if (fields.length === 0) return Object.keys(value).length === 0;
  return isJsonObject(value) && fields.every(([name, field]) => value[name] === field);
}
