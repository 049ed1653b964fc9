import { countTensors } from '@retrace/compute';
import { type GradientWorkers } from '@retrace/policy';
import type { RewardScorer } from '@retrace/scoring';
import { trajectoriesStored, type EventLog } from '@retrace/log';
import { type BatchPlanned, type EpisodeColumns, type FileRef, type RunState } from '@retrace/trajectory';
import type { EpisodeTexts, LostEpisode } from '@retrace/store';
import type { ControlTail } from '@retrace/log';
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckpointRetention } from './checkpoint/checkpoint-retention.js';
import { commitUpdate } from './checkpoint/commit-update.js';
import { computeUpdate, readsTexts } from './update/compute-update.js';
import { nextPlan, type NextPlan } from './plan/next-plan.js';
import { leaveOutLost } from './plan/lost-episodes.js';
import { PolicyState, type PolicyStateOptions } from './checkpoint/policy-state.js';
import { referenceVersion } from './update/reference-policy.js';
import { TrainerError } from './trainer-error.js';

/** Where the trainer reads whole episodes; `TrajectoryReader` is one. */
export interface EpisodeSource {
  /** Rejects with a retriable error while an episode is not visible yet. */
  readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns>;
  readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]>;
  /** Those that won't ever be whole. */
  findLost(log: EventLog, runId: string, episodeIds: readonly string[]): Promise<readonly LostEpisode[]>;
}

export interface TrainerOptions extends PolicyStateOptions {
  readonly runId: string;
  /** Unique to this process. */
  readonly trainerId: string;
  readonly rewards: RewardScorer;
  /** Starts what shares the recipe's optimizer steps; asked for where `optimizer.dataParallel` is above 1. By default they are all made here. */
  readonly startWorkers?: (policy: PolicyState) => Promise<GradientWorkers>;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly reader: EpisodeSource;
  readonly signal: AbortSignal;
  readonly onProgress: (detail: string) => void;
}

const retryMs = 10;
/** How long to believe that the sink is behind before looking in the store all the same. */
const longestTrustMs = 1000;

/**
 * Trains one run: claims it, restores the last commit, and makes one update after the other, each a transaction in the log
 * (`BatchPlanned` → files → `UpdateApplied` with `PolicyPublished`). The log and the checkpoint files decide everything,
 * so a killed trainer resumes to the result of one that was never killed.
 */
export class Trainer {
  private readonly retention: CheckpointRetention;
  private waitedSince = performance.now();

  private constructor(
    private readonly options: TrainerOptions,
    private readonly policy: PolicyState,
    private readonly epoch: number,
  ) {
    this.retention = new CheckpointRetention(options.checkpoints, options.runId);
  }

  /** Claims the run, restores its last commit, and makes sure that a policy is published. */
  static async start(options: TrainerOptions): Promise<Trainer> {
    const { control, runId, trainerId } = options;
    await control.catchUp();
    const epoch = (control.run(runId).updates.claim?.epoch ?? -1) + 1;
    await control.append(runId, { kind: 'TrainerClaimed', payload: { epoch, trainerId } });
    await control.catchUp();
    // A collector that found every update made may have ended the run before this claim resumed it, and is gone: nobody else would
    // end it again.
    const { endBeforeClaim } = control.run(runId);
    if (endBeforeClaim?.reason === 'finished') {
      await control.append(runId, { kind: 'RunEnded', payload: endBeforeClaim });
      await control.catchUp();
    }
    const policy = await PolicyState.open(options);
    const isShared = (options.recipe.optimizer.dataParallel ?? 1) > 1;
    if (isShared && options.startWorkers) policy.shareWith(await options.startWorkers(policy));
    const trainer = new Trainer(options, policy, epoch);
    trainer.requireClaim();
    await trainer.restore();
    return trainer;
  }

  /** Resolves when the run has ended or the signal aborts. */
  async run(): Promise<void> {
    const { control, runId, recipe, rewards, signal } = this.options;
    while (!signal.aborted) {
      await control.catchUp();
      this.requireClaim();
      await this.retention.apply(control.state.runs);
      if (this.view.ended) return;
      const next = nextPlan(this.view, { recipe, epoch: this.epoch, rewardVersion: rewards.version });
      if (next.kind === 'wait') {
        await control.changed(signal);
        continue;
      }
      this.requireRewardVersion(next.plan);
      const readStarted = performance.now();
      const waitSeconds = secondsSince(this.waitedSince);
      const batch = await this.readWhenStored(next);
      if (batch === null) continue;
      const planned = next.isNew
        ? control.append(runId, { kind: 'BatchPlanned', payload: batch.plan })
        : Promise.resolve();
      // Whoever awaits it below hears of a failure, also when the update fails first.
      planned.catch(() => undefined);
      await this.perform(batch, { planned, waitSeconds, readSeconds: secondsSince(readStarted) });
    }
  }

  private get view(): RunState {
    return this.options.control.run(this.options.runId);
  }

  /** @throws TrainerError `CLAIM_LOST` when another trainer's claim owns the run */
  private requireClaim(): void {
    const claim = this.view.updates.claim;
    if (claim?.epoch !== this.epoch || claim.trainerId !== this.options.trainerId) {
      throw new TrainerError(
        'CLAIM_LOST',
        `run ${this.options.runId} is claimed by trainer ${claim?.trainerId ?? 'none'} at epoch ${claim?.epoch ?? -1}; ` +
          `this trainer held epoch ${this.epoch}`,
      );
    }
  }

  /**
   * A plan names the rewards it is to be made with; other code under the same recipe would score it otherwise.
   *
   * @throws TrainerError `REWARDS_CHANGED`
   */
  private requireRewardVersion({ updateNumber, rewardVersion }: BatchPlanned): void {
    const { version } = this.options.rewards;
    if (rewardVersion === version) return;
    throw new TrainerError(
      'REWARDS_CHANGED',
      `update ${updateNumber} was planned with reward version ${rewardVersion.slice(0, 12)}; the recipe's rewards are ` +
        `${version.slice(0, 12)} by now, as their code was changed: restore it, or start a new run`,
    );
  }

  private async restore(): Promise<void> {
    const { updates, policies } = this.view;
    if (updates.lastUpdate) await this.policy.load(updates.lastUpdate);
    if (policies.latest) return;
    await this.options.control.append(this.options.runId, {
      kind: 'PolicyPublished',
      payload: {
        policyVersion: 0,
        parentVersion: null,
        updateNumber: 0,
        epoch: this.epoch,
        weights: await this.policy.saveWeights(),
        modelHash: this.policy.modelHash,
      },
    });
  }

  /** Makes the planned update, and commits it once its plan is acknowledged too. */
  private async perform(
    { plan, columns, texts }: ReadBatch,
    { planned, waitSeconds, readSeconds }: PerformedWith,
  ): Promise<void> {
    const { runId, control, recipe, rewards, onProgress } = this.options;
    const updateStarted = performance.now();
    const { metrics, outcome, episodeRewards, warnings, trainerState } = await computeUpdate({
      plan,
      columns,
      texts,
      recipe,
      rewards,
      policy: this.policy,
      referenceWeights: this.referenceWeights(),
      recordedRewards: null,
      trainerState: this.view.updates.lastUpdate?.trainerState ?? null,
    });
    const updateSeconds = secondsSince(updateStarted);
    await planned;
    await commitUpdate({
      runId,
      control,
      epoch: this.epoch,
      plan,
      policy: this.policy,
      metrics,
      episodeRewards,
      trainerState,
      timings: [
        ['train/tokensPerSecond', outcome.numTrainedTokens / updateSeconds],
        ['time/wait', waitSeconds],
        ['time/read', readSeconds],
        ['time/update', updateSeconds],
        ['memory/trainerTensors', countTensors()],
        ['train/numGroupsTooStale', this.view.groups.counts.numForgotten],
        ...(rewards.asksJudge ? judgeMetrics(rewards.judgeUsage) : []),
      ],
    });
    if (outcome.numOptimizerSteps > 0) {
      onProgress(
        `update ${plan.updateNumber} (${plan.stage}): loss ${outcome.loss.toFixed(4)}, entropy ${outcome.entropy.toFixed(3)}, ` +
          `${Math.round(outcome.numTrainedTokens / updateSeconds)} tokens/s`,
      );
    }
    for (const warning of warnings) onProgress(`update ${plan.updateNumber}: ${warning}`);
    this.waitedSince = performance.now();
  }

  private referenceWeights(): FileRef | null {
    const { recipe } = this.options;
    if (recipe.loss.klCoefficient === 0) return null;
    return this.view.policies.get(referenceVersion(recipe))?.weights ?? null;
  }

  /**
   * The plan's episodes, once the sink has carried them into the store; null when the signal aborts first. Of a new plan, groups
   * are left out that lack an event which won't come.
   *
   * @throws TrainerError `EPISODES_LOST` where that is not possible
   */
  private async readWhenStored({
    plan: asked,
    isNew,
  }: Extract<NextPlan, { kind: 'plan' }>): Promise<ReadBatch | null> {
    const { log, reader, recipe, rewards, runId, signal, onProgress } = this.options;
    let plan = asked;
    while (!signal.aborted) {
      const isStored = await trajectoriesStored(log, { timeoutMs: longestTrustMs, signal });
      try {
        const columns = await reader.readEpisodes(runId, plan.episodeIds);
        const texts = readsTexts(recipe, rewards)
          ? await reader.readEpisodeTexts(runId, plan.episodeIds)
          : null;
        return { plan, columns, texts };
      } catch (error) {
        if (!isRetriable(error)) throw error;
        const lost = isStored ? await reader.findLost(log, runId, plan.episodeIds) : [];
        if (lost.length === 0) await sleep(retryMs);
        else plan = leaveOutLost(plan, { lost, isNew, groups: this.view.groups, onProgress });
      }
    }
    return null;
  }
}

/** What an update is made of. */
interface ReadBatch {
  readonly plan: BatchPlanned;
  readonly columns: EpisodeColumns;
  /** Null where no reward reads them. */
  readonly texts: EpisodeTexts[] | null;
}

interface PerformedWith {
  /** Resolves once the plan is acknowledged. */
  readonly planned: Promise<void>;
  readonly waitSeconds: number;
  readonly readSeconds: number;
}

/** Since the trainer started. */
function judgeMetrics(usage: RewardScorer['judgeUsage']): (readonly [string, number])[] {
  return Object.entries(usage).map(([name, value]) => [`judge/${name}`, value] as const);
}

function isRetriable(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}
