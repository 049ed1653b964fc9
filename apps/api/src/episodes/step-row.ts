import type { Json, Usage } from '@retrace/trajectory';
import { isoTime } from '../store/store-time.js';
import type { StepDetail } from './episodes.dto.js';

/** A step as the store has it. */
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

/** Kinds of records that share an episode's numbering: of two with one number the first in log order counts. */
export const NUMBERED_KINDS = "('EpisodeStarted', 'StepRecorded', 'EpisodeEnded')";

/** Before `LIMIT 1 BY` the number: the order of the table, so that nothing is sorted. */
export const IN_LOG_ORDER = 'ORDER BY seq, log_id, log_stream, log_partition, log_offset';

const knownUsage = (place: number): string => `notEmpty(e.usage) AND isFinite(e.usage[${place}])`;
const tokensOfUsage = (place: number): string =>
  `if(${knownUsage(place)}, toUInt64(e.usage[${place}]), NULL)`;

/** The columns of the view `stored_steps` that an answer has. */
const STEP_COLUMNS = `toUInt64(e.seq - 1) AS step, occurred_at, observation, action, parsed_action,
        if(e.action_valid_unknown, NULL, e.action_valid) AS action_valid, anchor, reward, reward_names, reward_values, terminated, truncated,
        e.payload AS info, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_entropies, token_policy_versions, temperature,
        greedy, engine, model, tokenizer_hash, if(isNaN(e.generation_ms), NULL, e.generation_ms) AS generation_ms,
        if(isNaN(e.environment_ms), NULL, e.environment_ms) AS environment_ms, nullIf(e.messages, '') AS messages,
        ${tokensOfUsage(1)} AS input_tokens, ${tokensOfUsage(2)} AS cached_input_tokens, ${tokensOfUsage(3)} AS output_tokens,
        ${tokensOfUsage(4)} AS reasoning_tokens, if(${knownUsage(5)}, e.usage[5], NULL) AS cost_usd, untrainable`;

/**
 * Selects the steps of an episode from `fromStep` on, `maxSteps` numbers at most, up to `maxTokens` tokens together; the first step always, however many it has.
 * The records themselves take half of the time of the view, which names every column of the table.
 *
 * @param ofEpisode condition on the records
 * @param more further columns, each with a comma before it
 */
export const selectSteps = (ofEpisode: string, more = ''): string => `
  SELECT * EXCEPT (kind, num_tokens_to_here)${more}
  FROM (
    SELECT *, sum(length(token_ids)) OVER (ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS num_tokens_to_here
    FROM (
      SELECT kind, ${STEP_COLUMNS}
      FROM events AS e
      WHERE ${ofEpisode} AND kind IN ${NUMBERED_KINDS} AND seq > {fromStep:UInt32} AND seq <= {fromStep:UInt32} + {maxSteps:UInt32}
      ${IN_LOG_ORDER}
      LIMIT 1 BY seq
    )
    WHERE kind = 'StepRecorded'
  )
  WHERE num_tokens_to_here <= {maxTokens:UInt64} OR step = {fromStep:UInt32}
  ORDER BY step`;

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
