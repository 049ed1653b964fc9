import type { StepTokens } from '../wire/records.js';

interface SampledTokens {
  /** Log-probabilities of the sampled tokens. */
  readonly logprobs?: ArrayLike<number | null>;
  /** Policy version that sampled them; tokens of the prompt get -1. */
  readonly version?: number;
}

/** The tokens that a step appended, and the whole context after it. */
export interface AppendedTokens {
  readonly tokens: StepTokens;
  readonly context: readonly number[];
}

/**
 * Turns a whole prompt and its completion into what they add to the context so far. The longest common prefix of context and prompt is
 * kept; the rest of the prompt (mask 0) and the completion (mask 1) are appended.
 *
 * keptPrefix = max { k : contextᵢ = promptᵢ for all i < k },  ids = prompt[keptPrefix …] ⧺ completion
 *
 * @param context tokens after the previous step, or [] before the first
 * @throws RangeError when there are not as many logprobs as sampled tokens
 */
export function appendToContext(
  context: ArrayLike<number>,
  promptIds: ArrayLike<number>,
  completionIds: ArrayLike<number>,
  { logprobs, version }: SampledTokens = {},
): AppendedTokens {
  if (logprobs && logprobs.length !== completionIds.length) {
    throw new RangeError(
      `${logprobs.length} logprobs were given for ${completionIds.length} sampled tokens; give one for each`,
    );
  }
  const longest = Math.min(context.length, promptIds.length);
  let keptPrefix = 0;
  while (keptPrefix < longest && context[keptPrefix] === promptIds[keptPrefix]) keptPrefix++;
  const prompt = Array.from(promptIds);
  const completion = Array.from(completionIds);
  const given = prompt.slice(keptPrefix);
  const ids = [...given, ...completion];
  const tokens: StepTokens = {
    ids,
    mask: [...given.map(() => 0 as const), ...completion.map(() => 1 as const)],
    ...(logprobs && { logprobs: [...given.map(() => null), ...Array.from(logprobs)] }),
    ...(version !== undefined && { versions: [...given.map(() => -1), ...completion.map(() => version)] }),
    keptPrefix,
  };
  return { tokens, context: [...prompt, ...completion] };
}
