import type { JsonObject, JsonValue, Sampling } from '@retrace/client';
import { isObject, numberOf } from './json-fields.js';

/** Reads the sampling parameters that a request of OpenAI's form gives; null where it leaves the temperature to the server. */
export function samplingOf(body: JsonObject): Sampling | null {
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
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
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
  response_format: (value) => isObject(value) && value.type === 'text',
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

/** Says which parameters make the log-probabilities differ from the distribution that was sampled from; undefined where none does. */
export function otherSamplingOf(body: JsonObject): string | undefined {
  const used = Object.entries(OTHER_PARAMETERS).filter(([name, isOff]) => {
    const value = body[name];
    return value !== undefined && value !== null && !isOff(value);
  });
  return used.length > 0 ? `sampled with ${used.map(([name]) => name).join(', ')}` : undefined;
}
