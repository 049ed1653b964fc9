import { matrixProducts, parseRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { openPolicyText } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import {
  findVersion,
  readScores,
  rewardEpisode,
  RewardScorer,
  AssignedRewards,
  StateVisits,
  VerdictStore,
} from '@retrace/rewards/scoring';
import {
  evaluatePolicy,
  findEligibleEpisodes,
  type PolicyEstimator,
  type PolicyEvaluation,
} from '@retrace/trainer';
import type { EventLog } from '@retrace/log';
import type { EpisodeColumns, RunState } from '@retrace/trajectory';
import { TrajectoryReader, type StoreClient } from '@retrace/store';
import { findPolicy } from '@retrace/runs';
import { CliError } from '../../cli-error.js';
import type { BackendChoice } from '@retrace/process';
import type { StoreSession } from '../../services/connection.js';
import { findRun } from '../../run/find-run.js';
import { sayChosenRun } from '../../run/said-runs.js';
import { openCheckpoints } from '../../services/checkpoints.js';

interface EvaluationRequest {
  readonly run: string;
  /** Policy version of the run, or `latest`; of another run as `<run id>/<version>`. */
  readonly policy: string;
  /** Name or prefix of a version that the run was scored with; default: the rewards of the run's recipe. */
  readonly rewardVersion?: string;
  /** `latest` is the newest version of the run. */
  readonly behaviorVersion?: number | 'latest';
  readonly estimators: readonly PolicyEstimator[];
  readonly gamma: number;
  readonly minEffectiveEpisodes?: number;
  readonly maxEpisodes: number;
  readonly seed: number;
  readonly backend?: BackendChoice;
}

export interface EvaluationReport extends PolicyEvaluation {
  readonly runId: string;
  /** The run that published the policy. */
  readonly policyRunId: string;
  readonly policyVersion: number;
  readonly rewardVersion: string;
  readonly gamma: number;
  /** Episodes left out because updates that led to this policy used them. */
  readonly numFitted: number;
}

/**
 * Evaluates a stored policy version off-policy on the run's stored episodes, except those that it was trained on.
 *
 * @throws RunsError `RUN_UNKNOWN`, `POLICY_UNKNOWN`; CliError `POLICY_INCOMPATIBLE` for a policy of another run with another tokenizer
 */
export async function evaluateStoredPolicy(
  { client, log, directory }: StoreSession,
  request: EvaluationRequest,
): Promise<EvaluationReport> {
  const run = await findRun(log, request.run);
  const { runId } = run;
  const checkpoints = openCheckpoints(directory);
  const { run: policyRun, policy } = await findPolicy(run, request.policy, {
    log,
    checkpoints,
    onChosen: sayChosenRun,
  });
  if (policyRun.runId !== runId) await checkSameTokens(client, runId, policyRun);
  const recipe = parseRecipe((wasCollected(run) ? policyRun : run).started.recipe);
  const { episodeIds, numFitted } = await findEligibleEpisodes(client, {
    runId,
    policyRunId: policyRun.runId,
    updateNumber: policy.updateNumber,
    behaviorVersion:
      (request.behaviorVersion === 'latest' ? run.policies.latest?.policyVersion : request.behaviorVersion) ??
      null,
    maxEpisodes: request.maxEpisodes,
  });
  const columns = await new TrajectoryReader(client).readEpisodes(runId, episodeIds);
  const source = { client, log, runId, episodeIds };
  const { rewardVersion, stepRewards } =
    request.rewardVersion === undefined
      ? await scoreRewards(source, recipe.reward, columns)
      : await readStoredRewards(source, request.rewardVersion);
  await openBackend({ ...matrixProducts(recipe), prefer: request.backend && [request.backend] });
  const evaluation = await evaluatePolicy({
    recipe,
    checkpoints,
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
      : `; ${numFitted} more episodes were used in updates that led to this policy, so they can only judge an earlier version`;
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
}

interface RewardSource {
  readonly client: StoreClient;
  readonly log: EventLog;
  readonly runId: string;
  readonly episodeIds: readonly string[];
}

/** Rewards of each episode: one per step, with the episode's own reward added to its last step; null where a reward is missing. */
interface EpisodeRewards {
  readonly rewardVersion: string;
  readonly stepRewards: readonly (readonly number[] | null)[];
}

/** Reads the scores that the episodes have under a reward version. */
async function readStoredRewards(
  { client, runId, episodeIds }: RewardSource,
  nameOrPrefix: string,
): Promise<EpisodeRewards> {
  const { version } = await findVersion(client, runId, nameOrPrefix);
  const scores = await readScores(client, { runId, version, episodeIds });
  const stepRewards = episodeIds.map((id) => {
    const score = scores.get(id);
    return score === undefined ? null : joined(score.stepRewards, score.episodeReward);
  });
  return { rewardVersion: version, stepRewards };
}

/** Scores the episodes with the rewards of a recipe, without asking a judge. */
async function scoreRewards(
  { client, log, runId, episodeIds }: RewardSource,
  reward: Recipe['reward'],
  columns: EpisodeColumns,
): Promise<EpisodeRewards> {
  const reader = new TrajectoryReader(client);
  const scorer = await RewardScorer.load(reward, {
    verdicts: new VerdictStore({ log, reader, runId }),
    visits: new StateVisits({ client, runId }),
    assigned: new AssignedRewards({ client }),
    asksJudges: false,
  });
  const texts = scorer.readsTexts ? await reader.readEpisodeTexts(runId, episodeIds) : null;
  const scored = await scorer.scoreEpisodes(
    episodeIds.map((episodeId, e) => ({ episodeId, episode: rewardEpisode({ columns, texts }, e) })),
  );
  const stepRewards = scored.map(({ total, stepRewards: rewards, episodeReward }) =>
    total === null ? null : joined(Array.from(rewards), episodeReward),
  );
  return { rewardVersion: scorer.version, stepRewards };
}

/** Whether the run was collected outside training. Such a run has no recipe, so the recipe of the policy applies. */
function wasCollected({ started: { recipe } }: RunState): boolean {
  return typeof recipe === 'object' && recipe !== null && 'fromRun' in recipe;
}

/** Checks that the episodes have the tokens that the policy reads and writes. */
async function checkSameTokens(client: StoreClient, runId: string, policyRun: RunState): Promise<void> {
  const recipe = parseRecipe(policyRun.started.recipe);
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
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
    `policies of run ${policyRun.runId} use tokenizer ${tokenizer.hash.slice(0, 12)}, but the episodes of run ${runId} use ` +
      `${other.hash.slice(0, 12)}; choose a policy of a run with that tokenizer`,
  );
}

function joined(stepRewards: readonly number[], episodeReward: number): number[] {
  const rewards = [...stepRewards];
  if (rewards.length > 0) rewards[rewards.length - 1] += episodeReward;
  return rewards;
}
