import type { Json } from '@retrace/trajectory';
import { isoTime } from '../store/store-time.js';
import type { StepDetail } from './episodes.dto.js';

/** A row of the view `steps`, as JSON gives it. */
export interface StepRow {
  readonly step: number;
  readonly occurred_at: string;
  readonly observation: string;
  readonly action: string;
  readonly parsed_action: string | null;
  readonly action_valid: boolean;
  readonly anchor: string | null;
  readonly reward: number | null;
  readonly reward_names: readonly string[];
  readonly reward_values: readonly (number | null)[];
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: string;
  readonly kept_prefix_tokens: number;
  readonly token_ids: readonly number[];
  readonly action_mask: readonly number[];
  readonly token_logprobs: readonly (number | null)[];
  readonly token_entropies: readonly (number | null)[];
  readonly token_policy_versions: readonly number[];
  readonly temperature: number | null;
  readonly greedy: boolean;
  readonly engine: string;
  readonly model: string;
  readonly tokenizer_hash: string;
  readonly generation_ms: number;
  readonly environment_ms: number;
}

export const STEP_COLUMNS = `step, occurred_at, observation, action, parsed_action, action_valid, anchor, reward, reward_names,
    reward_values, terminated, truncated, info, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_entropies,
    token_policy_versions, temperature, greedy, engine, model, tokenizer_hash, generation_ms, environment_ms`;

export function toStepDetail(row: StepRow, texts: readonly string[] | null): StepDetail {
  return {
    step: row.step,
    observation: row.observation,
    action: row.action,
    parsedAction: row.parsed_action,
    actionValid: row.action_valid,
    anchor: row.anchor,
    reward: row.reward,
    rewards: row.reward_names.map((name, i) => ({ name, value: row.reward_values[i] })),
    terminated: row.terminated,
    truncated: row.truncated,
    info: parseJson(row.info),
    keptPrefixTokens: row.kept_prefix_tokens,
    temperature: row.temperature,
    greedy: row.temperature === null ? null : row.greedy,
    engine: row.engine,
    model: row.model,
    generationMs: row.generation_ms,
    environmentMs: row.environment_ms,
    occurredAt: isoTime(row.occurred_at),
    tokens: {
      ids: row.token_ids,
      texts,
      actionMask: row.action_mask,
      logprobs: row.token_logprobs,
      entropies: row.token_entropies,
      policyVersions: row.token_policy_versions,
    },
  };
}

/** JSON that the sink wrote; an empty string where there was nothing to write. */
export function parseJson(text: string): Json {
  return text === '' ? null : (JSON.parse(text) as Json);
}
