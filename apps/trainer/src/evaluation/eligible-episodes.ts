import type { StoreClient } from '@retrace/store';

export interface EligibleQuery {
  readonly runId: string;
  /** The run that published the candidate. */
  readonly policyRunId: string;
  /** Last update that led to the candidate: what fed it or one before it was fitted on. */
  readonly updateNumber: number;
  /** Only episodes that this policy version sampled whole; null = any. */
  readonly behaviorVersion: number | null;
  readonly maxEpisodes: number;
}

export interface SampledQuery {
  readonly runId: string;
  /** Versions of the run's policies. */
  readonly policyVersions: readonly number[];
  readonly maxEpisodes: number;
  /** Decides which, where there are more. */
  readonly seed: number;
}

/** Why an episode has no logprob that can be computed again. */
export type UncheckedReason =
  /** Other policies sampled it. */
  | 'otherPolicy'
  /** Its actions were chosen greedily, by top-k or by top-p. */
  | 'otherwiseSampled'
  /** Its logprobs are of the distribution before the temperature was applied. */
  | 'beforeTemperature';

export interface SampledEpisodes {
  readonly episodeIds: readonly string[];
  /** Episodes of the run's policies that can't be drawn, by the first reason that applies. */
  readonly leftOut: Readonly<Record<UncheckedReason, number>>;
}

export interface EligibleEpisodes {
  /** The newest first. */
  readonly episodeIds: readonly string[];
  /** Episodes of that behavior that the candidate was fitted on. */
  readonly numFitted: number;
}

/** A truncated episode without a final observation is one whose environment failed: what it would have come to is not known. */
const PLAYED = `
  run_id = {runId:String} AND sealed AND agent = 'policy' AND end_reason != 'abandoned' AND num_steps > 0
  AND NOT (end_reason = 'truncated' AND empty(final_token_ids))
  AND ({behaviorVersion:Int64} < 0
    OR (policy_version_min = {behaviorVersion:Int64} AND policy_version_max = {behaviorVersion:Int64}))`;
/** A greedy choice is no sample, and one by top-k or top-p is none of the policy's. An episode is sampled in one way, so its first step tells. */
const SAMPLED = `
  SELECT episode_id FROM events
  WHERE run_id = {runId:String} AND episode_id != '' AND kind = 'StepRecorded' AND seq = 1 AND NOT greedy
    AND (temperature IS NULL OR (top_k = 0 AND top_p >= 1))`;
const FITTED = `
  SELECT arrayJoin(episode_ids) FROM updates
  WHERE run_id = {policyRunId:String} AND applied_at IS NOT NULL AND update_number <= {updateNumber:UInt64}`;

/** Episodes that a policy of this run or another one sampled, and that fed no update on the way to the candidate. */
export async function findEligibleEpisodes(
  client: StoreClient,
  query: EligibleQuery,
): Promise<EligibleEpisodes> {
  const { runId, policyRunId, updateNumber, behaviorVersion, maxEpisodes } = query;
  const params = { runId, policyRunId, updateNumber, behaviorVersion: behaviorVersion ?? -1 };
  const rows = await client.queryRows<{ readonly episodeId: string }>(
    `SELECT episode_id AS episodeId FROM episodes
     WHERE ${PLAYED} AND episode_id IN (${SAMPLED}) AND episode_id NOT IN (${FITTED})
     ORDER BY episode_id DESC LIMIT ${maxEpisodes}`,
    { params },
  );
  const [{ numFitted }] = await client.queryRows<{ readonly numFitted: number }>(
    `SELECT count() AS numFitted FROM episodes WHERE ${PLAYED} AND episode_id IN (${FITTED})`,
    { params },
  );
  return { episodeIds: rows.map(({ episodeId }) => episodeId), numFitted };
}

const BEFORE_TEMPERATURE = `
  SELECT episode_id FROM events
  WHERE run_id = {runId:String} AND kind = 'StepRecorded' AND logprob_mode = 'raw' AND temperature != 1`;
/** An episode in whose middle the policy changed has tokens of the versions between, too. */
const REASONED = `
  SELECT episode_id, multiIf(
    NOT arrayExists(v -> v BETWEEN policy_version_min AND policy_version_max, {policyVersions:Array(Int64)}), 'otherPolicy',
    episode_id NOT IN (${SAMPLED}), 'otherwiseSampled',
    episode_id IN (${BEFORE_TEMPERATURE}), 'beforeTemperature', '') AS reason
  FROM episodes
  WHERE run_id = {runId:String} AND sealed AND agent = 'policy' AND num_steps > 0`;

/** Draws episodes at random whose logprobs these policies of the run can give again. */
export async function drawSampledEpisodes(
  client: StoreClient,
  { maxEpisodes, ...params }: SampledQuery,
): Promise<SampledEpisodes> {
  const rows = await client.queryRows<{ readonly episodeId: string }>(
    `SELECT episode_id AS episodeId FROM (${REASONED}) WHERE reason = ''
     ORDER BY sipHash64(episode_id, {seed:UInt64}), episode_id LIMIT ${maxEpisodes}`,
    { params },
  );
  const counts = await client.queryRows<{ readonly reason: UncheckedReason; readonly num: number }>(
    `SELECT reason, count() AS num FROM (${REASONED}) WHERE reason != '' GROUP BY reason`,
    { params },
  );
  const leftOut = { otherPolicy: 0, otherwiseSampled: 0, beforeTemperature: 0 };
  for (const { reason, num } of counts) leftOut[reason] = num;
  return { episodeIds: rows.map(({ episodeId }) => episodeId), leftOut };
}
