import type { UpdateApplied, UpdateTraced, UsedEngine } from '@retrace/trajectory';
import type { UpdateOutcome } from '../update/steps/optimizer-steps.js';
import type { MetricEntries } from '../metric-entries.js';
import { TokenDigest } from './token-digest.js';
import { Replayer, type ReplaySource, type ReplayOrigin } from './replayer.js';

export interface ReplayOptions extends ReplaySource {
  readonly updateNumber: number;
  /** Called before updates are made again only to get to the state that the asked one starts from. */
  readonly onRecompute?: (from: number, to: number) => void;
}

export interface ReplayedMetric {
  readonly name: string;
  readonly recorded: number;
  readonly replayed: number;
}

/** One optimizer step, which is one mini-batch, as it was recorded and as it is now; NaN where one of them did not make it. */
export interface ReplayedOptimizerStep {
  /** From 1. */
  readonly step: number;
  readonly recordedLoss: number;
  readonly replayedLoss: number;
  /** Before the gradient is scaled down. */
  readonly recordedGradientNorm: number;
  readonly replayedGradientNorm: number;
}

export interface ReplayResult extends ReplayOrigin {
  readonly updateNumber: number;
  readonly numEpisodes: number;
  readonly metrics: readonly ReplayedMetric[];
  /** |replayed − recorded| / max(1, |recorded|) of the loss; 0 where both trained nothing, NaN where one did. */
  readonly lossDifference: number;
  /** Whether that is rounding, at most 1e-5. */
  readonly isReproduced: boolean;
  /** Engines that made the update, and made it again; null for an update from before commits named their engine. */
  readonly engine: { readonly recorded: UsedEngine; readonly replayed: UsedEngine } | null;
  /** Whether the replayed weights are the recorded ones, bit for bit. */
  readonly sameWeights: boolean;
  /** Whether what was recorded of each trained token is the same again, bit for bit; null where nothing was (`updateTokens`). */
  readonly sameTokens: boolean | null;
  /** Optimizer steps in order; null for an update from before they were recorded. */
  readonly steps: readonly ReplayedOptimizerStep[] | null;
  /** The first of them, from 1, whose loss or gradient norm differs at all; null where none does, or nothing was recorded. */
  readonly firstDifferingStep: number | null;
}

/** Largest loss difference that counts as reproduced. */
const REPLAY_TOLERANCE = 1e-5;

/**
 * Re-runs an update from its manifest: same weights and optimizer state in, same stored episodes, same seed, and the same
 * episodes left out because they had no reward, whatever was assigned to them since. Where the state that it starts from is not
 * kept, the updates since the newest checkpoint before it are made again first. Nothing is written.
 *
 * @throws TrainerError `UPDATE_UNKNOWN` when the run has no such committed update; `NOT_REPLAYABLE` when the weights of the
 *   reference policy can't be read
 * @throws RewardError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
 */
export async function replayUpdate(options: ReplayOptions): Promise<ReplayResult> {
  const { updateNumber, onRecompute } = options;
  const replayer = await Replayer.open(options);
  try {
    const { plan, commit, trace, tokenDigest } = replayer.update(updateNumber);
    const start = await replayer.goBefore(updateNumber, onRecompute);
    const { metrics, outcome, tokenTrace } = await replayer.makeAgain(updateNumber);
    return {
      updateNumber,
      numEpisodes: plan.episodeIds.length,
      engine: commit.engine && { recorded: commit.engine, replayed: replayer.engine.used },
      ...compareMetrics(commit, metrics),
      ...compareSteps(trace, outcome),
      sameWeights: await replayer.isExact(updateNumber),
      sameTokens:
        tokenDigest === null ? null : tokenTrace !== null && TokenDigest.of(tokenTrace) === tokenDigest,
      ...start,
    };
  } finally {
    await replayer.close();
  }
}

/** Compares the metrics of a recorded update with those of the same update, made again. */
export function compareMetrics(
  { metricNames, metricValues }: Pick<UpdateApplied, 'metricNames' | 'metricValues'>,
  entries: MetricEntries,
): Pick<ReplayResult, 'metrics' | 'lossDifference' | 'isReproduced'> {
  const replayed = new Map(entries);
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
  return { metrics, lossDifference, isReproduced: lossDifference <= REPLAY_TOLERANCE };
}

/** Compares the optimizer steps of a recorded update with those of the same update, made again. */
export function compareSteps(
  recorded: Pick<UpdateTraced, 'stepLosses' | 'stepGradientNorms'> | null,
  { stepLosses, stepGradientNorms }: Pick<UpdateOutcome, 'stepLosses' | 'stepGradientNorms'>,
): Pick<ReplayResult, 'steps' | 'firstDifferingStep'> {
  if (recorded === null) return { steps: null, firstDifferingStep: null };
  const numSteps = Math.max(recorded.stepLosses.length, stepLosses.length);
  const at = (values: Float64Array, k: number) => (k < values.length ? values[k] : Number.NaN);
  const steps = Array.from({ length: numSteps }, (_, k) => ({
    step: k + 1,
    recordedLoss: at(recorded.stepLosses, k),
    replayedLoss: at(stepLosses, k),
    recordedGradientNorm: at(recorded.stepGradientNorms, k),
    replayedGradientNorm: at(stepGradientNorms, k),
  }));
  const differing = steps.find(
    (step) =>
      !Object.is(step.recordedLoss, step.replayedLoss) ||
      !Object.is(step.recordedGradientNorm, step.replayedGradientNorm),
  );
  return { steps, firstDifferingStep: differing?.step ?? null };
}
