import { matrixProducts, parseRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { CheckpointFiles, openPolicyText } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import {
  findVersion,
  readScores,
  rewardEpisode,
  RewardScorer,
  StateVisits,
  VerdictStore,
} from '@retrace/scoring';
import {
  evaluatePolicy,
  findEligibleEpisodes,
  type PolicyEstimator,
  type PolicyEvaluation,
} from '@retrace/trainer';
import type { RunState } from '@retrace/trajectory';
import { TrajectoryReader, type StoreClient } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { BackendName } from '../../server/role-definitions.js';
import type { StoreSession } from '../../services/connection.js';
import { findPolicy } from '../../run/find-policy.js';
import { findRun } from '../../run/find-run.js';

export interface EvaluationRequest {
  readonly run: string;
  /** Policy version of the run, or `latest`; of another run as `<run id>/<version>`. */
  readonly policy: string;
  /** Name or beginning of a version that the run was scored under; default: the rewards of the run's recipe. */
  readonly rewardVersion?: string;
  readonly behaviorVersion?: number;
  readonly estimators: readonly PolicyEstimator[];
  readonly gamma: number;
  readonly minEffectiveEpisodes?: number;
  readonly maxEpisodes: number;
  readonly seed: number;
  readonly backend?: BackendName;
}

export interface EvaluationReport extends PolicyEvaluation {
  readonly runId: string;
  /** The run that published the policy. */
  readonly policyRunId: string;
  readonly policyVersion: number;
  readonly rewardVersion: string;
  readonly gamma: number;
  /** Left out because updates that led to this policy were made of them. */
  readonly numFitted: number;
}

/**
 * Off-policy evaluation of a stored policy version on the run's stored episodes, never on those that it was fitted on.
 *
 * @throws CliError `RUN_UNKNOWN`, `POLICY_UNKNOWN`; `POLICY_INCOMPATIBLE` for a policy of another run that reads other tokens
 */
export async function evaluateStoredPolicy(
  { client, log, directory }: StoreSession,
  request: EvaluationRequest,
): Promise<EvaluationReport> {
  const run = await findRun(log, request.run);
  const { runId } = run;
  const { run: policyRun, policy } = await findPolicy(log, run, request.policy);
  if (policyRun.runId !== runId) await checkSameTokens(client, runId, policyRun);
  const recipe = parseRecipe((wasCollected(run) ? policyRun : run).started.recipe);
  const reader = new TrajectoryReader(client);
  const { episodeIds, numFitted } = await findEligibleEpisodes(client, {
    runId,
    policyRunId: policyRun.runId,
    updateNumber: policy.updateNumber,
    behaviorVersion: request.behaviorVersion ?? null,
    maxEpisodes: request.maxEpisodes,
  });
  const columns = await reader.readEpisodes(runId, episodeIds);
  const { rewardVersion, stepRewards } = await rewardsOf();
  await openBackend({ ...matrixProducts(recipe), prefer: request.backend && [request.backend] });
  const evaluation = await evaluatePolicy({
    recipe,
    checkpoints: new CheckpointFiles(directory.checkpoints),
    weights: policy.weights,
    columns,
    rewards: stepRewards,
    estimators: request.estimators,
    gamma: request.gamma,
    minEffectiveEpisodes: request.minEffectiveEpisodes,
    seed: request.seed,
  });
  const hint =
    evaluation.refusal === null || numFitted === 0
      ? ''
      : `; ${String(numFitted)} more episodes fed updates that led to this policy and cannot judge it: an earlier version can be judged by them`;
  return {
    runId,
    policyRunId: policyRun.runId,
    policyVersion: policy.policyVersion,
    rewardVersion,
    gamma: request.gamma,
    numFitted,
    ...evaluation,
    refusal: evaluation.refusal === null ? null : evaluation.refusal + hint,
  };

  /** A reward for each step, the one for the episode as a whole with its last step; null where it is not known. */
  async function rewardsOf() {
    if (request.rewardVersion !== undefined) {
      const { version } = await findVersion(client, runId, request.rewardVersion);
      const scores = await readScores(client, { runId, version, episodeIds });
      const found = episodeIds.map((id) => {
        const score = scores.get(id);
        return score === undefined ? null : joined(score.stepRewards, score.episodeReward);
      });
      return { rewardVersion: version, stepRewards: found };
    }
    const scorer = await RewardScorer.load(recipe.reward, {
      verdicts: new VerdictStore({ log, reader, runId }),
      visits: new StateVisits({ client, runId }),
      asksJudges: false,
    });
    const texts = scorer.readsTexts ? await reader.readEpisodeTexts(runId, episodeIds) : null;
    const scored = await scorer.scoreEpisodes(
      episodeIds.map((episodeId, e) => ({ episodeId, episode: rewardEpisode({ columns, texts }, e) })),
    );
    const found = scored.map(({ total, stepRewards, episodeReward }) =>
      total === null ? null : joined(Array.from(stepRewards), episodeReward),
    );
    return { rewardVersion: scorer.version, stepRewards: found };
  }
}

/** Outside any training run: there is no recipe then, and that of the policy counts. */
function wasCollected({ started: { recipe } }: RunState): boolean {
  return typeof recipe === 'object' && recipe !== null && 'fromRun' in recipe;
}

/** A policy can speak about recorded tokens only where they are those that it reads and writes. */
async function checkSameTokens(client: StoreClient, runId: string, policyRun: RunState): Promise<void> {
  const recipe = parseRecipe(policyRun.started.recipe);
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: getEnvironment(recipe.environment).words,
    directory: recipe.policy?.model,
  });
  const rows = await client.queryRows<{ readonly hash: string }>(
    `SELECT DISTINCT tokenizer_hash AS hash FROM events
     WHERE run_id = {runId:String} AND kind = 'StepRecorded' AND seq = 1 AND tokenizer_hash != ''`,
    { params: { runId } },
  );
  const other = rows.find(({ hash }) => hash !== tokenizer.hash);
  if (other === undefined) return;
  throw new CliError(
    'POLICY_INCOMPATIBLE',
    `policies of run ${policyRun.runId} read tokens of tokenizer ${tokenizer.hash.slice(0, 12)}, the episodes of run ${runId} hold those ` +
      `of ${other.hash.slice(0, 12)}: they can be judged by a policy of a run with that tokenizer alone`,
  );
}

function joined(stepRewards: readonly number[], episodeReward: number): number[] {
  const rewards = [...stepRewards];
  if (rewards.length > 0) rewards[rewards.length - 1] += episodeReward;
  return rewards;
}
