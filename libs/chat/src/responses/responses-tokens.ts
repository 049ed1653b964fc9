import type { JsonObject, TokenUsage } from '@retrace/client';
import { callTokens, asIds, readLogprobs, missingTokens } from '../tokens/engine-tokens.js';
import { hasOnlyObjects, asObjects } from '../json/json-fields.js';
import type { PromptAndSampledTokens } from '../calls/protocol.js';

const MESSAGES_WITH_TOKENS = ['input_messages', 'output_messages'] as const;

/** Tokens of a response that is one prompt and one answer; null for all others, as those that call tools of the server. */
export function tokensOfResponse({
  input_messages,
  output_messages,
  output,
}: JsonObject): PromptAndSampledTokens | null {
  const [prompt, ...prompts] = asObjects(input_messages);
  const [answer, ...answers] = asObjects(output_messages);
  if (prompt === undefined || answer === undefined || prompts.length + answers.length > 0) return null;
  const parts = asObjects(output).flatMap(({ content }) => asObjects(content));
  const content = parts.flatMap(({ logprobs }) => asObjects(logprobs));
  return callTokens(asIds(prompt.tokens), asIds(answer.tokens), readLogprobs({ logprobs: { content } }));
}

/** Compares the tokens of a response with its usage, as `missingTokens` does. */
export function describeMissingTokens(response: JsonObject, usage: TokenUsage | null): string | undefined {
  const tokens = tokensOfResponse(response);
  return missingTokens(
    { prompt: tokens?.promptIds.length ?? null, sampled: tokens?.sampledIds.length ?? null },
    usage,
  );
}

/** The field of a response that is not as the protocol has it; undefined where there is none. */
export function unreadableField(response: JsonObject): string | undefined {
  const { output } = response;
  if (!hasOnlyObjects(output)) return 'output';
  if (asObjects(output).some(({ content }) => typeof content !== 'string' && !hasOnlyObjects(content)))
    return 'content';
  return MESSAGES_WITH_TOKENS.find(
    (name) =>
      !hasOnlyObjects(response[name]) ||
      asObjects(response[name]).some(({ tokens }) => tokens != null && asIds(tokens) === null),
  );
}
