import type { Json, Usage } from '@retrace/trajectory';
import { isoTime } from '../store/store-time.js';
import type { StepDetail } from './episodes.dto.js';

/** A row of the view `steps`. */
export interface StepRow
  extends Omit<StepDetail, 'info' | 'rewards' | 'tokens' | 'messages' | 'usage'>, Usage {
  readonly info: string;
  readonly messages: string | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: readonly (number | null)[];
  readonly tokenIds: readonly number[];
  readonly actionMask: readonly number[];
  readonly tokenLogprobs: readonly (number | null)[];
  readonly tokenEntropies: readonly (number | null)[];
  readonly tokenPolicyVersions: readonly number[];
  readonly tokenizerHash: string;
}

export const STEP_COLUMNS = `step, occurred_at, observation, action, parsed_action, action_valid, anchor, reward, reward_names,
    reward_values, terminated, truncated, info, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_entropies,
    token_policy_versions, temperature, greedy, engine, model, tokenizer_hash, generation_ms, environment_ms,
    messages, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd, untrainable`;

export function toStepDetail(row: StepRow, texts: readonly string[] | null): StepDetail {
  const { rewardNames, rewardValues, tokenIds, actionMask, tokenLogprobs, ...others } = row;
  const { tokenEntropies, tokenPolicyVersions, tokenizerHash: _, messages, ...more } = others;
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd, ...step } = more;
  const usage = { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd };
  return {
    ...step,
    rewards: rewardNames.map((name, i) => ({ name, value: rewardValues[i] })),
    info: parseJson(step.info),
    messages: parseJson(messages ?? ''),
    usage: Object.values(usage).every((value) => value === null) ? null : usage,
    greedy: step.temperature === null ? null : step.greedy,
    occurredAt: isoTime(step.occurredAt),
    tokens: {
      ids: tokenIds,
      texts,
      actionMask,
      logprobs: tokenLogprobs,
      entropies: tokenEntropies,
      policyVersions: tokenPolicyVersions,
    },
  };
}

/** JSON that the sink wrote; an empty string where there was nothing to write. */
export function parseJson(text: string): Json {
  return text === '' ? null : (JSON.parse(text) as Json);
}
