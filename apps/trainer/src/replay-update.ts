import { parseRecipe, type Recipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { openPolicyText, PolicyError, type CheckpointFiles } from '@retrace/policy';
import {
  ControlFold,
  type BatchPlanned,
  type PolicyPublished,
  type RunStarted,
  type UpdateApplied,
} from '@retrace/trajectory';
import { type EventLog } from '@retrace/log';
import {
  RewardScorer,
  VerdictStore,
  type AssignedRewardSource,
  type RewardScorerOptions,
} from '@retrace/scoring';
import { decodeEvent } from '@retrace/trajectory/codec';
import { computeUpdate } from './update/compute-update.js';
import { readsTexts } from './update/update-needs.js';
import { TensorflowEngine } from './engine/tensorflow-engine.js';
import { referenceWeights } from './update/reference-logprobs.js';
import type { EpisodeSource } from './update/read-episodes.js';
import { TrainerError } from './trainer-error.js';

export interface ReplayOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly reader: EpisodeSource & AssignedRewardSource;
  /** Needed for rewards that count visits. */
  readonly visits?: RewardScorerOptions['visits'];
  readonly runId: string;
  readonly updateNumber: number;
}

export interface ReplayedMetric {
  readonly name: string;
  readonly recorded: number;
  readonly replayed: number;
}

export interface ReplayResult {
  readonly updateNumber: number;
  readonly numEpisodes: number;
  readonly metrics: readonly ReplayedMetric[];
  /** |replayed − recorded| / max(1, |recorded|) of the loss; 0 where both trained nothing, NaN where one did. */
  readonly lossDifference: number;
  /** Whether the replayed weights are the recorded ones, bit for bit. */
  readonly sameWeights: boolean;
}

/** Largest loss difference that counts as reproduced. */
export const REPLAY_TOLERANCE = 1e-5;

/**
 * Re-runs an update from its manifest: same weights and optimizer state in, same stored episodes, same seed, and the same
 * episodes left out because they had no reward, whatever was assigned to them since.
 *
 * @throws TrainerError `UPDATE_UNKNOWN` when the run has no such committed update; `NOT_REPLAYABLE` when a file that it
 *   starts from was removed by the checkpoint policy or is damaged, naming the updates that start from files that are there
 * @throws ScoringError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
 */
export async function replayUpdate(options: ReplayOptions): Promise<ReplayResult> {
  const { log, runId, updateNumber, checkpoints, reader } = options;
  const found = await findUpdate(log, runId, updateNumber);
  const recipe = parseRecipe(found.run.recipe);
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: getEnvironment(recipe.environment).words,
    directory: recipe.policy?.model,
  });
  const engine = await TensorflowEngine.open({
    recipe,
    checkpoints,
    vocabSize: tokenizer.vocabSize,
    tokenizerHash: tokenizer.hash,
  });
  if (found.before) {
    try {
      await engine.load(found.before);
    } catch (cause) {
      if (!(cause instanceof PolicyError)) throw cause;
      throw notReplayable(cause, updateNumber, {
        kept: recipe.checkpoint,
        replayable: await replayableUpdates(found.commits, checkpoints),
      });
    }
  }
  // Only stored verdicts of judges count; none is asked for.
  const rewards = await RewardScorer.load(recipe.reward, {
    verdicts: new VerdictStore({ log, reader, runId }),
    visits: options.visits,
    asksJudges: false,
  });
  const { episodeIds } = found.plan;
  const { metrics } = await computeUpdate({
    plan: found.plan,
    columns: await reader.readEpisodes(runId, episodeIds),
    texts: readsTexts(recipe, rewards) ? await reader.readEpisodeTexts(runId, episodeIds) : null,
    recipe,
    rewards,
    engine,
    referenceWeights: referenceWeights(recipe, found.policies),
    recordedRewards: found.commit.episodeRewards,
    trainerState: found.before?.trainerState ?? null,
  });
  return {
    updateNumber,
    numEpisodes: episodeIds.length,
    ...compareMetrics(found.commit, new Map(metrics)),
    sameWeights: (await engine.saveWeights()).sha256 === found.commit.weights.sha256,
  };
}

function compareMetrics(
  { metricNames, metricValues }: UpdateApplied,
  replayed: ReadonlyMap<string, number>,
): Pick<ReplayResult, 'metrics' | 'lossDifference'> {
  const metrics = metricNames.map((name, i) => ({
    name,
    recorded: metricValues[i],
    replayed: replayed.get(name) ?? Number.NaN,
  }));
  const loss = metrics.find(({ name }) => name === 'train/loss');
  // An update that trained nothing has no loss.
  const withoutLoss = replayed.has('train/loss') ? Number.NaN : 0;
  const lossDifference = loss
    ? Math.abs(loss.replayed - loss.recorded) / Math.max(1, Math.abs(loss.recorded))
    : withoutLoss;
  return { metrics, lossDifference };
}

function notReplayable(
  cause: PolicyError,
  updateNumber: number,
  { kept, replayable }: { readonly kept: Recipe['checkpoint']; readonly replayable: readonly number[] },
): TrainerError {
  return new TrainerError(
    'NOT_REPLAYABLE',
    `update ${updateNumber}: a file of the state that it starts from can't be read (${cause.message}); ` +
      `recipe field checkpoint.keepEvery is ${kept.keepEvery}, checkpoint.keepLast ${kept.keepLast}: ` +
      `what can be replayed is update ${describeNumbers(replayable)}`,
    { cause },
  );
}

interface FoundUpdate {
  readonly run: RunStarted;
  readonly plan: BatchPlanned;
  readonly commit: UpdateApplied;
  /** All of the run, by update number. */
  readonly commits: ReadonlyMap<number, UpdateApplied>;
  /** The commit before it; null for the first update, which starts from the recipe's seed. */
  readonly before: UpdateApplied | null;
  readonly policies: ReadonlyMap<number, PolicyPublished>;
}

/** Finds the update in the control stream; a commit counts if the fold accepts it. */
async function findUpdate(log: EventLog, runId: string, updateNumber: number): Promise<FoundUpdate> {
  const fold = new ControlFold();
  const plans = new Map<string, BatchPlanned>();
  const commits = new Map<number, UpdateApplied>();
  const policies = new Map<number, PolicyPublished>();
  for (let offset = 0; ;) {
    const records = await log.read('control', 0, offset);
    if (records.length === 0) break;
    for (const record of records) {
      offset = record.offset + 1;
      const decoded = decodeEvent(record.bytes);
      if (!decoded.ok) continue;
      const { event } = decoded;
      const { applied } = fold.apply(event, record.offset);
      if (!applied || event.runId !== runId) continue;
      if (event.kind === 'BatchPlanned') plans.set(event.payload.planId, event.payload);
      else if (event.kind === 'UpdateApplied') commits.set(event.payload.updateNumber, event.payload);
      else if (event.kind === 'PolicyPublished') policies.set(event.payload.policyVersion, event.payload);
    }
  }
  const run = fold.run(runId)?.started;
  if (!run) throw new TrainerError('RUN_UNKNOWN', `run ${runId} is not in this log`);
  const commit = commits.get(updateNumber);
  const plan = commit && plans.get(commit.planId);
  if (!plan) {
    throw new TrainerError(
      'UPDATE_UNKNOWN',
      `update ${updateNumber} of run ${runId}: not committed; the run has updates 1 … ${Math.max(0, ...commits.keys())}`,
    );
  }
  return { plan, commit, commits, before: commits.get(updateNumber - 1) ?? null, policies, run };
}

/** Updates whose files to start from are there; the first one needs none. */
async function replayableUpdates(
  commits: ReadonlyMap<number, UpdateApplied>,
  checkpoints: CheckpointFiles,
): Promise<number[]> {
  const present = new Set((await checkpoints.list()).map(({ sha256 }) => sha256));
  return [...commits.keys()]
    .filter((updateNumber) => {
      const before = commits.get(updateNumber - 1);
      return !before || (present.has(before.weights.sha256) && present.has(before.optimizer.sha256));
    })
    .sort((a, b) => a - b);
}

/** Ascending whole numbers as `1, 51, 59–60`. */
function describeNumbers(numbers: readonly number[]): string {
  const stretches: [number, number][] = [];
  for (const n of numbers) {
    const last = stretches.at(-1);
    if (last?.[1] === n - 1) last[1] = n;
    else stretches.push([n, n]);
  }
  return stretches.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
}
