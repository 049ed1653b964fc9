/*
 * Who waits for whom:
 *
 *   collector ──episodes──▶ log ──sink──▶ store
 *       ▲                    │              │
 *       │                    │ groups       │ episodes stored
 *       │                    ▼              ▼
 *       │    ┌──────────▶  plan  ───────▶  read  ──▶ compute the update ──▶ commit ──┐
 *       │    │               │                        (update/policy-update.ts) ▲    │
 *       │    │               └── BatchPlanned is appended meanwhile ─────────────┘    │
 *       │    └────────────────────────────── next update ────────────────────────────┤
 *       └─────────────────────────────── PolicyPublished ────────────────────────────┘
 */
import { countTensors } from '@retrace/compute';
import type { Recipe } from '@retrace/config';
import type { ControlEntry, ControlTail, EventLog, WarningLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import type { RewardScorer } from '@retrace/scoring';
import type { BatchPlanned, RunState } from '@retrace/trajectory';
import { CheckpointRetention } from './checkpoint/checkpoint-retention.js';
import { commitUpdate } from './checkpoint/commit-update.js';
import type { UpdateEngine } from './engine/update-engine.js';
import { leaveOutLost } from './plan/lost-episodes.js';
import { nextPlan, type NextPlan } from './plan/next-plan.js';
import { TrainerError } from './trainer-error.js';
import { computeUpdate } from './update/compute-update.js';
import type { MetricEntries } from './update/metrics.js';
import { readEpisodes, type EpisodeSource, type ReadEpisodes } from './update/read-episodes.js';
import { referenceWeights } from './update/reference-logprobs.js';
import { readsTexts } from './update/update-needs.js';
import type { UpdateResult } from './update/update-result.js';

export interface TrainerOptions {
  readonly runId: string;
  /** Unique to this process. */
  readonly trainerId: string;
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  /** Opens what makes the gradients, in the state that a run of this recipe starts from. Called once the run is claimed. */
  readonly openEngine: () => Promise<UpdateEngine>;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly reader: EpisodeSource;
  readonly signal: AbortSignal;
  readonly warnings: WarningLog;
}

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
    private readonly engine: UpdateEngine,
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
    // A collector that found every update made may have ended the run before this claim resumed it. It has exited since, so
    // nobody else would end the run again.
    const { endBeforeClaim } = control.run(runId);
    if (endBeforeClaim?.reason === 'finished') {
      await control.append(runId, { kind: 'RunEnded', payload: endBeforeClaim });
      await control.catchUp();
    }
    const trainer = new Trainer(options, await options.openEngine(), epoch);
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
      const episodes = await this.readWhenStored(next);
      if (episodes === null) continue;
      const planned = next.isNew
        ? control.append(runId, { kind: 'BatchPlanned', payload: episodes.plan })
        : Promise.resolve();
      // `perform` awaits it and rejects as it does; this is for an update that fails first.
      planned.catch(() => undefined);
      await this.perform(episodes, { planned, waitSeconds, readSeconds: secondsSince(readStarted) });
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
    if (updates.lastUpdate) await this.engine.load(updates.lastUpdate);
    if (policies.latest) return;
    await this.options.control.append(this.options.runId, {
      kind: 'PolicyPublished',
      payload: {
        policyVersion: 0,
        parentVersion: null,
        updateNumber: 0,
        epoch: this.epoch,
        weights: await this.engine.saveWeights(),
        modelHash: this.engine.modelHash,
      },
    });
  }

  /** Computes the planned update, and commits it once its plan is acknowledged too. */
  private async perform(
    { plan, columns, texts }: ReadEpisodes,
    { planned, waitSeconds, readSeconds }: PerformedWith,
  ): Promise<void> {
    const { runId, control, recipe, rewards } = this.options;
    const updateStarted = performance.now();
    const { outcome, warnings, alarm, ...recorded } = await computeUpdate({
      plan,
      columns,
      texts,
      recipe,
      rewards,
      engine: this.engine,
      referenceWeights: referenceWeights(recipe, this.view.policies),
      recordedRewards: null,
      trainerState: this.view.updates.lastUpdate?.trainerState ?? null,
    });
    const updateSeconds = secondsSince(updateStarted);
    await planned;
    await commitUpdate({
      ...recorded,
      runId,
      control,
      epoch: this.epoch,
      plan,
      engine: this.engine,
      warnings: this.warningsOf(plan.updateNumber, { warnings, alarm }),
      timings: [
        ['train/tokensPerSecond', outcome.numTrainedTokens / updateSeconds],
        ['time/wait', waitSeconds],
        ['time/read', readSeconds],
        ['time/update', updateSeconds],
        ['memory/trainerTensors', countTensors()],
        ['train/numGroupsTooStale', this.view.groups.numForgotten],
        ...(rewards.asksJudge ? judgeMetrics(rewards.judgeUsage) : []),
      ],
    });
    this.waitedSince = performance.now();
  }

  /** The events of an update's warnings, to be committed with it. */
  private warningsOf(step: number, { warnings, alarm }: Pick<UpdateResult, 'warnings' | 'alarm'>) {
    const severe = alarm === null ? [] : [{ severity: 'alarm' as const, message: alarm }];
    return [...severe, ...warnings.map((message) => ({ severity: 'warning' as const, message }))]
      .map((warning) => this.options.warnings.entry({ source: 'trainer', step, ...warning }))
      .filter((entry): entry is ControlEntry => entry !== null);
  }

  /**
   * Reads the plan's episodes once they are stored; null when the signal aborts first. Groups with an event that won't come are
   * left out of a new plan.
   *
   * @throws TrainerError `EPISODES_LOST` where that is not possible
   */
  private readWhenStored({ plan, isNew }: Extract<NextPlan, { kind: 'plan' }>): Promise<ReadEpisodes | null> {
    const { log, reader, recipe, rewards, runId, signal, warnings } = this.options;
    return readEpisodes(plan, {
      log,
      reader,
      runId,
      withTexts: readsTexts(recipe, rewards),
      signal,
      leaveOut: (asked, lost) =>
        leaveOutLost(asked, {
          lost,
          isNew,
          groups: this.view.groups,
          warn: (message) => {
            warnings.raise({ source: 'trainer', step: asked.updateNumber, message });
          },
        }),
    });
  }
}

interface PerformedWith {
  /** Resolves once the plan is acknowledged. */
  readonly planned: Promise<void>;
  readonly waitSeconds: number;
  readonly readSeconds: number;
}

/** Since the trainer started. */
function judgeMetrics(usage: RewardScorer['judgeUsage']): MetricEntries {
  return Object.entries(usage).map(([name, value]) => [`judge/${name}`, value] as const);
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}
