/*
 * Who waits for whom:
 *
 *   collector ──episodes, groups──▶ log ──sink, at its own pace──▶ store (with episodes of other runs)
 *       ▲                            │                               ┆
 *       │             fresh episodes │      stored ones, where a plan has them, or after a restart
 *       │                            ▼                               ▼
 *       │    ┌──────────▶  plan ──▶ read (fresh-episodes/) ──▶ compute the update ──▶ commit ──┐
 *       │    │               │                                 (update/compute-update.ts)▲    │
 *       │    │               └── BatchPlanned is appended meanwhile ─────────────────────┘    │
 *       │    └────────────────────────────── next update ─────────────────────────────────────┤
 *       ├─────────────────────────────── PolicyPublished ─────────────────────────────────────┘
 *       │    (a collector plays already, with the policy that it was offered before the commit, and appends from here on)
 *       └──▶ validator ──episodes, PolicyValidated──▶ log
 */
import { countTensors } from '@retrace/compute';
import { dataSources, needsCollector, type Recipe } from '@retrace/config';
import {
  trajectoryEnds,
  type ControlEntry,
  type ControlTail,
  type EventLog,
  type WarningLog,
} from '@retrace/log';
import { isUnreadable, type CheckpointFiles, type OfferedPolicy, type OfferFile } from '@retrace/policy';
import type { RewardScorer } from '@retrace/rewards/scoring';
import type { RunState, UpdateApplied } from '@retrace/trajectory';
import type { KnownEvents } from '@retrace/trajectory/codec';
import { CheckpointRetention } from './checkpoint/checkpoint-retention.js';
import { commitUpdate } from './checkpoint/commit-update.js';
import { neededPolicies } from './checkpoint/kept-checkpoints.js';
import { remakePolicies } from './checkpoint/remake-policies.js';
import { remakeState } from './checkpoint/remake-state.js';
import { FlopsMeter, type FlopsShape } from './engine/flops-meter.js';
import type { UpdateEngine } from './engine/update-engine.js';
import { FreshEpisodes } from './fresh-episodes/fresh-episodes.js';
import { BatchSampler, type FactsSource } from './plan/batch-sampler.js';
import { BatchSource, secondsSince } from './plan/batch-source.js';
import { describeOrigin, type ReplaySource } from './replay/replayer.js';
import { isEngineLost, TrainerError } from './trainer-error.js';
import { computeUpdate } from './update/compute-update.js';
import { judgeMetrics, type MetricEntries } from './metric-entries.js';
import type { EpisodeSource } from './plan/episode-source.js';
import type { ReadEpisodes } from './plan/read-episodes.js';
import { episodeFigures } from './monitors/episode-figures.js';
import { monitorRules, RunMonitors } from './monitors/run-monitors.js';
import { StoreLag } from './monitors/store-lag.js';
import type { Teacher } from './teacher/teacher.js';
import { readsTexts, referencePolicy } from './update/update-inputs.js';
import type { UpdateResult } from './update/result/update-result.js';

/** One whose process ends over the same update each time ends the run. */
const MOST_LOST_ENGINES = 3;

export interface TrainerOptions {
  readonly runId: string;
  /** Unique to this process. */
  readonly trainerId: string;
  readonly recipe: Recipe;
  readonly rewards: RewardScorer;
  /** The recipe's teacher, where a server is it (default null). */
  readonly teacher?: Teacher | null;
  /** Opens what makes the gradients, in the state that a run of this recipe starts from. Called once the run is claimed, and again where it was lost. */
  readonly openEngine: () => Promise<UpdateEngine>;
  /** Shape of the engine's model. */
  readonly shape: FlopsShape;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  /** Where a collector of this process gets each new policy, before it is committed. */
  readonly offered?: OfferedPolicy;
  /** Where a collector of another process does. */
  readonly offerFile?: OfferFile;
  /** Events that a collector of this process writes. */
  readonly known?: KnownEvents;
  /** Reads the store. Episodes of the run itself are read from it only where the log does not hand them over (`FreshEpisodes`). */
  readonly reader: EpisodeSource & FactsSource & ReplaySource['reader'];
  /** Whether a sink brings the log into a store (default true). */
  readonly hasStore?: boolean;
  /** Most bytes of fresh episodes that are kept (default 256 MiB). */
  readonly maxFreshBytes?: number;
  /** Needed for rewards that count visits, where a damaged checkpoint is made again. */
  readonly visits?: ReplaySource['visits'];
  readonly signal: AbortSignal;
  readonly warnings: WarningLog;
}

/**
 * Trains one run: claims it, restores the last commit, and makes one update after the other, each a transaction in the log
 * (`BatchPlanned` → files → `UpdateApplied` with `PolicyPublished`). The log and the checkpoint files decide everything,
 * so a killed trainer resumes to the result of one that was never killed.
 */
export class Trainer {
  /** Times in a row that the engine was lost without a commit. */
  private numLostEngines = 0;
  /** Updates of a server are made again in the one that this trainer is pointed to. */
  private readonly source: ReplaySource;
  private readonly retention: CheckpointRetention;
  private readonly monitors: RunMonitors;
  /** Null without a store. */
  private readonly storeLag: StoreLag | null;

  private constructor(
    private readonly options: TrainerOptions,
    private engine: UpdateEngine,
    private readonly fresh: FreshEpisodes,
    private readonly batches: BatchSource,
    private readonly epoch: number,
  ) {
    this.monitors = new RunMonitors(monitorRules(options.recipe));
    const warn = (message: string) => void options.warnings.raise({ source: 'trainer', message });
    this.storeLag = options.hasStore === false ? null : new StoreLag(options.log, warn);
    this.retention = new CheckpointRetention(options.checkpoints, options.runId);
    const { engine: section } = options.recipe;
    this.source = section?.kind === 'tinker' ? { ...options, engine: section } : options;
  }

  /** Claims the run, restores its last commit, and makes sure that a policy is published. */
  static async start(options: TrainerOptions): Promise<Trainer> {
    const { control, runId, trainerId, log, recipe, rewards, reader, signal } = options;
    const ends = await trajectoryEnds(log);
    await control.catchUp();
    const epoch = (control.run(runId).updates.claim?.epoch ?? -1) + 1;
    await control.append(runId, { kind: 'TrainerClaimed', payload: { epoch, trainerId } });
    await control.catchUp();
    // A validator that found every update made may have ended the run before this claim resumed it. It has exited since, so
    // nobody else would end the run again.
    const { endBeforeClaim } = control.run(runId);
    if (endBeforeClaim?.reason === 'finished') {
      await control.append(runId, { kind: 'RunEnded', payload: endBeforeClaim });
      await control.catchUp();
    }
    requireOwnRewards(options);
    const sampler = await BatchSampler.open(recipe, reader, control.run(runId));
    const engine = await options.openEngine();
    try {
      const run = () => control.run(runId);
      const keepsTexts = readsTexts(recipe, rewards);
      const { maxFreshBytes: maxBytes, known } = options;
      const fresh = await FreshEpisodes.open({
        ...{ log, ends, run, keepsTexts, stored: reader, maxBytes, known, signal },
        isCollected: needsCollector(recipe),
      });
      const batches = new BatchSource({ ...options, reader: fresh, sampler, epoch });
      const trainer = new Trainer(options, engine, fresh, batches, epoch);
      trainer.requireClaim();
      await trainer.restore();
      return trainer;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Resolves when the run has ended or the signal aborts. */
  async run(): Promise<void> {
    const { control, runId, signal } = this.options;
    while (!signal.aborted) {
      await control.catchUp();
      this.requireClaim();
      await this.retention.apply(control.state.runs, (location) => this.engine.forget(location));
      if (this.view.ended) return;
      const batch = await this.batches.next();
      if (batch === null) continue;
      const { episodes, isNew, waitSeconds, readSeconds } = batch;
      const planned = isNew
        ? control.append(runId, { kind: 'BatchPlanned', payload: episodes.plan })
        : Promise.resolve();
      // `perform` awaits it and rejects as it does; this is for an update that fails first.
      planned.catch(() => undefined);
      try {
        await this.perform(episodes, { planned, waitSeconds, readSeconds });
        this.numLostEngines = 0;
      } catch (error) {
        // The server of a teacher is waited for until the process is asked to stop; the update is made at the next start.
        if (signal.aborted && error === signal.reason) return planned;
        if (!isEngineLost(error)) throw error;
        await planned;
        await this.replaceEngine(error);
      }
    }
  }

  /** Ends what the engine started; the trainer is of no further use. */
  async close(): Promise<void> {
    await this.fresh.close();
    await this.engine.close();
    await this.options.offerFile?.remove();
  }

  /**
   * Opens the engine again after it was lost in the middle of an update, and returns to the last commit. The plan is in the log and without a
   * commit, so it is made again next.
   *
   * @throws TrainerError `ENGINE_LOST` where it was lost too often without a commit between
   */
  private async replaceEngine(lost: TrainerError): Promise<void> {
    this.numLostEngines += 1;
    if (this.numLostEngines > MOST_LOST_ENGINES) throw lost;
    const updateNumber = (this.view.updates.lastUpdate?.updateNumber ?? 0) + 1;
    const message = `${lost.message}; starting it again from the last commit, to make update ${updateNumber} again`;
    this.options.warnings.raise({ source: 'trainer', message });
    this.options.offered?.withdraw();
    await this.engine.close();
    this.engine = await this.options.openEngine();
    await this.options.control.catchUp();
    this.requireClaim();
    await this.restore().catch((again: unknown) => {
      if (!isEngineLost(again)) throw again;
      return this.replaceEngine(again);
    });
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

  private async restore(): Promise<void> {
    const { updates, policies } = this.view;
    if (updates.lastUpdate) await this.load(updates.lastUpdate);
    // The first policy's file may be lost, and without an update nobody else makes it again.
    else if (policies.latest) await this.engine.saveWeights(undefined, policies.latest.weights);
    if (policies.latest) {
      await this.remakeNeeded();
      return;
    }
    const weights = await this.engine.saveWeights();
    await this.options.control.append(this.options.runId, {
      kind: 'PolicyPublished',
      payload: {
        policyVersion: 0,
        parentVersion: null,
        updateNumber: 0,
        epoch: this.epoch,
        weights,
        modelHash: this.engine.modelHash,
        location: this.engine.location,
      },
    });
  }

  /** Makes those policies again that other processes will load and whose files are missing or damaged. */
  private remakeNeeded(): Promise<void> {
    return remakePolicies(this.source, neededPolicies(this.view), (message) => {
      this.options.warnings.raise({ source: 'trainer', message });
    });
  }

  /** Loads a commit; where its files are missing or damaged, they are made again from the newest checkpoint before it that is whole. */
  private async load(commit: UpdateApplied): Promise<void> {
    const { updateNumber } = commit;
    try {
      await this.engine.load(commit);
      return;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const message = `${error.message}; going back to the checkpoint before update ${updateNumber}, to make it again`;
      this.options.warnings.raise({ source: 'trainer', message });
    }
    // The engine is still as the run began: the first policy, which may be damaged too.
    await this.engine.saveWeights(undefined, this.view.policies.get(0)?.weights);
    const beganAfter = await remakeState(this.source, updateNumber);
    const origin = describeOrigin(beganAfter);
    const message = `the checkpoint of update ${updateNumber} was made again from ${origin}, bit for bit`;
    this.options.warnings.raise({ source: 'trainer', message });
    await this.engine.load(commit);
  }

  /** Computes the planned update, and commits it once its plan is acknowledged too. */
  private async perform(
    { plan, columns, texts }: ReadEpisodes,
    { planned, waitSeconds, readSeconds }: PerformedWith,
  ): Promise<void> {
    const { runId, control, recipe, rewards, teacher, shape } = this.options;
    const flopsMeter = new FlopsMeter(shape);
    const updateStarted = performance.now();
    // The log answers while the update is computed.
    const recordsBehind = this.storeLag?.observe();
    recordsBehind?.catch(() => undefined);
    const { warnings, alarm, ...recorded } = await computeUpdate({
      plan,
      columns,
      texts,
      recipe,
      rewards,
      teacher,
      engine: flopsMeter.watch(this.engine),
      reference: referencePolicy(recipe, this.view.policies),
      recordedRewards: null,
      trainerState: this.view.updates.lastUpdate?.trainerState ?? null,
    });
    const updateSeconds = secondsSince(updateStarted);
    if (this.options.offered) this.engine.offerWeights(this.options.offered, plan.policyVersionIn + 1);
    const timings: MetricEntries = [
      ['train/tokensPerSecond', recorded.outcome.numTrainedTokens / updateSeconds],
      ...flopsMeter.metrics(this.engine.used.numProcesses, recipe.engine?.peakFlops),
      ['time/wait', waitSeconds],
      ['time/read', readSeconds],
      ['time/update', updateSeconds],
      ['memory/trainerTensors', countTensors()],
      ['train/numGroupsTooStale', this.view.groups.numForgotten + this.view.sampling.numTooStale],
      ...(recordsBehind ? [['store/recordsBehind', await recordsBehind] as const] : []),
      ...(rewards.asksJudge ? judgeMetrics(rewards.judgeUsage) : []),
    ];
    const { updateNumber, stage } = plan;
    const findings =
      stage === 'imitation' || recorded.episodeRewards === null
        ? []
        : this.monitors.observe(
            { updateNumber, metrics: new Map([...recorded.metrics, ...timings]) },
            episodeFigures(columns, recorded.episodeRewards),
          );
    await planned;
    await commitUpdate({
      ...recorded,
      runId,
      control,
      epoch: this.epoch,
      plan,
      engine: this.engine,
      offerFile: this.options.offerFile,
      episodes: columns,
      warnings: this.warningsOf(updateNumber, { warnings, alarm, findings }),
      timings,
    });
    this.batches.updated();
  }

  /** The events of an update's warnings, to be committed with it. */
  private warningsOf(
    step: number,
    {
      warnings,
      alarm,
      findings,
    }: Pick<UpdateResult, 'warnings' | 'alarm'> & { readonly findings: ReturnType<RunMonitors['observe']> },
  ) {
    const severe =
      alarm === null ? [] : [{ severity: 'alarm' as const, rule: 'trainedOnNothing', message: alarm }];
    const others = warnings.map((message) => ({ severity: 'warning' as const, message }));
    return [...severe, ...findings, ...others]
      .map((warning) => this.options.warnings.entry({ source: 'trainer', step, ...warning }))
      .filter((entry): entry is ControlEntry => entry !== null);
  }
}

interface PerformedWith {
  /** Resolves once the plan is acknowledged. */
  readonly planned: Promise<void>;
  readonly waitSeconds: number;
  readonly readSeconds: number;
}

/**
 * Verdicts of judges and counts of visits are kept with the run that they were made for.
 *
 * @throws TrainerError `REWARD_NEEDS_OWN_EPISODES`
 */
function requireOwnRewards({ recipe, rewards }: Pick<TrainerOptions, 'recipe' | 'rewards'>): void {
  const hasStored = dataSources(recipe).some(({ from }) => from !== 'own');
  if (!hasStored || !(rewards.asksJudge || rewards.countsVisits)) return;
  throw new TrainerError(
    'REWARD_NEEDS_OWN_EPISODES',
    'a component of the reward asks a judge or counts visits of states, which only episodes of the run itself have; ' +
      'remove it, or the sources of data that are not "own"',
  );
}
