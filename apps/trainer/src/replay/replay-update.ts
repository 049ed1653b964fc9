import { parseRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { openPolicyText, PolicyError, type CheckpointFiles } from '@retrace/policy';
import type { UpdateApplied } from '@retrace/trajectory';
import { type EventLog } from '@retrace/log';
import {
  RewardScorer,
  VerdictStore,
  type AssignedRewardSource,
  type RewardScorerOptions,
} from '@retrace/scoring';
import { computeUpdate } from '../update/compute-update.js';
import type { MetricEntries } from '../update/metrics.js';
import { readsTexts } from '../update/update-needs.js';
import { TensorflowEngine } from '../engine/tensorflow-engine.js';
import { referenceWeights } from '../update/reference-logprobs.js';
import type { EpisodeSource } from '../update/read-episodes.js';
import { TrainerError } from '../trainer-error.js';
import { readRecordedUpdates, type RecordedUpdates } from './recorded-updates.js';

export interface ReplayOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly reader: EpisodeSource & AssignedRewardSource;
  /** Needed for rewards that count visits. */
  readonly visits?: RewardScorerOptions['visits'];
  readonly runId: string;
  readonly updateNumber: number;
  /** Called before updates are made again only to get to the state that the asked one starts from. */
  readonly onRecompute?: (from: number, to: number) => void;
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
  /** The update whose checkpoint the replay began with, 0 for the start of the run; those after it were made again first. */
  readonly beganAfter: number;
  /** First of those whose weights differ from the recorded ones, which only rounding explains; null where all are equal bit for bit. */
  readonly firstInexact: number | null;
}

/** Largest loss difference that counts as reproduced. */
export const REPLAY_TOLERANCE = 1e-5;

/**
 * Re-runs an update from its manifest: same weights and optimizer state in, same stored episodes, same seed, and the same
 * episodes left out because they had no reward, whatever was assigned to them since. Where the state that it starts from is not
 * kept, the updates since the newest checkpoint before it are made again first, which gives the same state bit for bit on the backend and
 * machine that made them. Nothing is written.
 *
 * @throws TrainerError `UPDATE_UNKNOWN` when the run has no such committed update; `NOT_REPLAYABLE` when the weights of the
 *   reference policy can't be read
 * @throws ScoringError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
 */
export async function replayUpdate(options: ReplayOptions): Promise<ReplayResult> {
  const { log, runId, updateNumber, checkpoints } = options;
  const recorded = await readRecordedUpdates(log, runId);
  const { run, updates } = recorded;
  const asked = updates.get(updateNumber);
  if (!asked) {
    const newest = Math.max(0, ...updates.keys());
    const rule = `not committed; the run has updates 1 … ${newest}`;
    throw new TrainerError('UPDATE_UNKNOWN', `update ${updateNumber} of run ${runId}: ${rule}`);
  }
  const recipe = parseRecipe(run.recipe);
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
  });
  const { vocabSize, hash: tokenizerHash } = tokenizer;
  const engine = await TensorflowEngine.open({ recipe, checkpoints, vocabSize, tokenizerHash });
  // Only stored verdicts of judges count; none is asked for.
  const rewards = await RewardScorer.load(recipe.reward, {
    verdicts: new VerdictStore({ log, reader: options.reader, runId }),
    visits: options.visits,
    asksJudges: false,
  });
  const beganAfter = await loadNewestBefore(updateNumber, { engine, updates, checkpoints });
  if (beganAfter + 1 < updateNumber) options.onRecompute?.(beganAfter + 1, updateNumber - 1);
  const remake = (n: number) => remakeUpdate(n, { ...options, recipe, recorded, rewards, engine });
  const isExact = async (n: number) =>
    (await engine.nameWeights()).sha256 === updates.get(n)?.commit.weights.sha256;
  let firstInexact: number | null = null;
  for (let n = beganAfter + 1; n < updateNumber; n++) {
    await remake(n);
    if (firstInexact === null && !(await isExact(n))) firstInexact = n;
  }
  const metrics = await remake(updateNumber);
  return {
    updateNumber,
    numEpisodes: asked.plan.episodeIds.length,
    ...compareMetrics(asked.commit, new Map(metrics)),
    sameWeights: await isExact(updateNumber),
    beganAfter,
    firstInexact,
  };
}

/**
 * Loads the newest checkpoint from before this update of which both files can be read. Returns its update's number, or 0 where the
 * engine keeps the state that the recipe starts from.
 */
async function loadNewestBefore(
  updateNumber: number,
  {
    engine,
    updates,
    checkpoints,
  }: Pick<RecordedUpdates, 'updates'> & {
    readonly engine: TensorflowEngine;
    readonly checkpoints: CheckpointFiles;
  },
): Promise<number> {
  const present = new Set((await checkpoints.list()).map(({ sha256 }) => sha256));
  for (let n = updateNumber - 1; n > 0; n--) {
    const commit = updates.get(n)?.commit;
    if (!commit || !present.has(commit.weights.sha256) || !present.has(commit.optimizer.sha256)) continue;
    try {
      await engine.load(commit);
      return n;
    } catch (error) {
      // A damaged file: an earlier checkpoint leads to the same state.
      if (!(error instanceof PolicyError)) throw error;
    }
  }
  return 0;
}

interface Remaking extends Pick<ReplayOptions, 'reader' | 'runId'> {
  readonly recipe: Recipe;
  readonly recorded: RecordedUpdates;
  readonly rewards: RewardScorer;
  /** In the state after the update before. */
  readonly engine: TensorflowEngine;
}

/** Makes a recorded update again and returns its metrics. */
async function remakeUpdate(
  updateNumber: number,
  { reader, runId, recipe, recorded, rewards, engine }: Remaking,
): Promise<MetricEntries> {
  const update = recorded.updates.get(updateNumber);
  if (!update)
    throw new TrainerError('UPDATE_UNKNOWN', `update ${updateNumber} of run ${runId}: not committed`);
  const { plan, commit } = update;
  try {
    const { metrics } = await computeUpdate({
      plan,
      columns: await reader.readEpisodes(runId, plan.episodeIds),
      texts: readsTexts(recipe, rewards) ? await reader.readEpisodeTexts(runId, plan.episodeIds) : null,
      recipe,
      rewards,
      engine,
      referenceWeights: referenceWeights(recipe, recorded.policies),
      recordedRewards: commit.episodeRewards,
      trainerState: recorded.updates.get(updateNumber - 1)?.commit.trainerState ?? null,
    });
    return metrics;
  } catch (cause) {
    if (!(cause instanceof PolicyError) || !UNREADABLE.has(cause.code)) throw cause;
    const what = `update ${updateNumber}: the weights of the reference policy can't be read (${cause.message})`;
    throw new TrainerError('NOT_REPLAYABLE', what, { cause });
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['CHECKPOINT_MISSING', 'CHECKPOINT_CORRUPT']);

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
