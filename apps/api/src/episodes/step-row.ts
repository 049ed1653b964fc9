import type { Json } from '@retrace/trajectory';
import { isoTime } from '../store/store-time.js';
import type { StepDetail } from './episodes.dto.js';

/** A row of the view `steps`. */
export interface StepRow extends Omit<StepDetail, 'info' | 'rewards' | 'tokens'> {
  readonly info: string;
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
    token_policy_versions, temperature, greedy, engine, model, tokenizer_hash, generation_ms, environment_ms`;

export function toStepDetail(row: StepRow, texts: readonly string[] | null): StepDetail {
  const { rewardNames, rewardValues, tokenIds, actionMask, tokenLogprobs, ...others } = row;
  const { tokenEntropies, tokenPolicyVersions, tokenizerHash: _, ...step } = others;
  return {
    ...step,
    rewards: rewardNames.map((name, i) => ({ name, value: rewardValues[i] })),
    info: parseJson(step.info),
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
