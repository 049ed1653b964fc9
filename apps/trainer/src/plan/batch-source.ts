import { needsValidator, validationPlateau, type Recipe } from '@retrace/config';
import { BlockReports, type ControlTail, type EventLog, type WarningLog } from '@retrace/log';
import type { RewardScorer } from '@retrace/rewards/scoring';
import type { BatchPlanned, GroupState, RunState } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';
import type { EpisodeSource } from './episode-source.js';
import { readEpisodes, type ReadEpisodes } from './read-episodes.js';
import { readsTexts } from '../update/update-inputs.js';
import type { BatchSampler } from './batch-sampler.js';
import { filterBatch, type FilteredBatch } from './filter-batch.js';
import { leaveOutLost } from './lost-episodes.js';
import { nextPlan, policyPlan, type PlannedBatch } from './next-plan.js';

export interface BatchSourceOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  readonly sampler: BatchSampler;
  /** Of the trainer's claim. */
  readonly epoch: number;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly reader: EpisodeSource;
  readonly signal: AbortSignal;
  readonly warnings: WarningLog;
}

/** A batch that was read, and how long it took. */
export interface BatchToTrain {
  readonly episodes: ReadEpisodes;
  readonly isNew: boolean;
  readonly waitSeconds: number;
  readonly readSeconds: number;
}

/**
 * Gives a trainer one batch after the other: plans it, reads its episodes, takes out what is not to be trained on. What keeps it from that is in
 * the log: groups that it discards, a limiter that makes it wait, the end of a run without a validator.
 */
export class BatchSource {
  private waitedSince = performance.now();
  private readonly blocks: BlockReports;

  constructor(private readonly options: BatchSourceOptions) {
    this.blocks = new BlockReports(options);
  }

  /** Tells that the update of the last batch is committed. */
  updated(): void {
    this.waitedSince = performance.now();
  }

  private get view(): RunState {
    return this.options.control.run(this.options.runId);
  }

  private get planOptions() {
    const { recipe, rewards, sampler, epoch } = this.options;
    return { recipe, epoch, rewardVersion: rewards.version, sampler };
  }

  /** Whether the validations let no other update begin; the validator then ends the run. */
  private get hasStoppedEarly(): boolean {
    const { updates, validationSuccess } = this.view;
    return (
      updates.pendingPlans.length === 0 && validationPlateau(validationSuccess, this.options.recipe) !== null
    );
  }

  /** The batch to train; null where it has to be asked for again, after what had to happen first. */
  async next(): Promise<BatchToTrain | null> {
    const { control, runId, recipe, signal } = this.options;
    if (this.hasStoppedEarly) {
      await control.changed(signal);
      return null;
    }
    const next = await nextPlan(this.view, this.planOptions);
    if (next.kind === 'exhausted') return this.endRun(next.reason);
    if (next.kind === 'complete') {
      // The validator still has policies to measure, and ends the run.
      if (!needsValidator(recipe)) return this.endRun('');
      await control.changed(signal);
      return null;
    }
    if (await this.discardStale(next.tooStale)) return null;
    if (next.kind === 'wait') {
      await this.blocks.report(next.block);
      await control.changed(signal);
      return null;
    }
    this.requireRewardVersion(next.plan);
    const readStarted = performance.now();
    const waitSeconds = secondsSince(this.waitedSince);
    const filtered = await this.filtered(next);
    if (filtered.kind === 'aborted') return null;
    if (filtered.kind === 'discard') {
      const { updateNumber } = next.plan;
      const payload = { groupIds: filtered.groupIds, reason: 'zeroVariance', updateNumber } as const;
      await control.append(runId, { kind: 'GroupsDiscarded', payload });
      return null;
    }
    const readSeconds = secondsSince(readStarted);
    this.options.sampler.planned(filtered.read.plan.groupSources, filtered.read.plan.groupRows);
    return { episodes: filtered.read, isNew: next.isNew, waitSeconds, readSeconds };
  }

  /** Reads a batch, and takes groups without variance out of a new one. */
  private async filtered(batch: PlannedBatch): Promise<FilteredBatch> {
    const { recipe, rewards, sampler, warnings } = this.options;
    const { isNew, plan } = batch;
    if (!isNew) {
      const read = await this.readWhenStored(plan, isNew);
      return read === null ? { kind: 'aborted' } : { kind: 'read', read };
    }
    const { updateNumber } = plan;
    return filterBatch(batch, {
      recipe,
      rewards,
      run: this.view,
      sampler,
      read: (asked) => this.readWhenStored(asked, true),
      plan: (groups, leftOut) =>
        policyPlan(this.view, { ...this.planOptions, updateNumber }, groups, leftOut),
      warn: (message) => {
        warnings.raise({ source: 'trainer', step: updateNumber, message });
      },
    });
  }

  /**
   * Drops groups that have become too stale ever to be sampled, or each plan would look at all of them again. A recipe with a sampler has them
   * in the log, for its limiter. True where the plan has to be made again.
   */
  private async discardStale(groups: readonly GroupState[]): Promise<boolean> {
    const { control, runId, recipe } = this.options;
    if (groups.length === 0) return false;
    if (!recipe.sampler) {
      for (const { groupId } of groups) this.view.groups.forget(groupId);
      return false;
    }
    const updateNumber = (this.view.updates.lastUpdate?.updateNumber ?? 0) + 1;
    const groupIds = groups.map(({ groupId }) => groupId);
    await control.append(runId, {
      kind: 'GroupsDiscarded',
      payload: { groupIds, reason: 'tooStale', updateNumber },
    });
    return true;
  }

  private async endRun(detail: string): Promise<null> {
    const { numUpdates } = this.view.updates;
    const payload = { reason: 'finished', detail, numUpdates } as const;
    await this.options.control.append(this.options.runId, { kind: 'RunEnded', payload });
    return null;
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
        `${version.slice(0, 12)} by now, as their code or that of Retrace was changed: finish the update with the code of before, or start a new run`,
    );
  }

  /**
   * Reads the plan's episodes once they are stored; null when the signal aborts first. Groups with an event that won't come are
   * left out of a new plan.
   *
   * @throws TrainerError `EPISODES_LOST` where that is not possible
   */
  private readWhenStored(plan: BatchPlanned, isNew: boolean): Promise<ReadEpisodes | null> {
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

/** Seconds since a time of `performance.now`. */
export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}
