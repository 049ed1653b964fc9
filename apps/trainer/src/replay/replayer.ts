import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecipe, type EngineRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import type { EventLog } from '@retrace/log';
import { CheckpointFiles, isUnreadable, openPolicyText, PolicyError, type FileRef } from '@retrace/policy';
import {
  RewardScorer,
  VerdictStore,
  type AssignedRewardSource,
  type RewardScorerOptions,
} from '@retrace/rewards/scoring';
import { readPlanColumns, readPlanTexts } from '@retrace/store';
import type { BatchPlanned } from '@retrace/trajectory';
import { openEngine } from '../engine/open-engine.js';
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { computeUpdate } from '../update/compute-update.js';
import type { EpisodeSource } from '../plan/episode-source.js';
import type { UpdateInputs } from '../update/update-inputs.js';
import { readsTexts, referencePolicy } from '../update/update-inputs.js';
import type { UpdateResult } from '../update/result/update-result.js';
import { nameLike } from './name-like.js';
import { openRecordedTeacher } from './recorded-teacher.js';
import { replayEngine } from './replay-engine.js';
import { readRecordedUpdates, type RecordedUpdate, type RecordedUpdates } from './recorded-updates.js';
import { requireSameEpisodes } from './same-episodes.js';

/** Where the updates of a run were recorded. */
export interface ReplaySource {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly reader: EpisodeSource & AssignedRewardSource;
  /** Needed for rewards that count visits. */
  readonly visits?: RewardScorerOptions['visits'];
  /** Needed for rewards that were assigned. */
  readonly assigned?: RewardScorerOptions['assigned'];
  readonly runId: string;
  /** Settings of the engine; where they name no kind, each update is made again on the kind that made it. */
  readonly engine?: Partial<EngineRecipe>;
}

/** The state that a replay begins with. */
export interface ReplayOrigin {
  /** The update whose checkpoint it began with, 0 for the start of the run; those after it were made again. */
  readonly beganAfter: number;
  /** First of those whose weights differ from the recorded ones, which only rounding explains; null where all are equal bit for bit. */
  readonly firstInexact: number | null;
}

/** Says where a replay began: "the start of the run", or "the checkpoint of update 12". */
export function describeOrigin(beganAfter: number): string {
  return beganAfter === 0 ? 'the start of the run' : `the checkpoint of update ${beganAfter}`;
}

/** Differences from the recorded update, for a question what it would have been with them. */
export type ReplayChanges = Partial<Pick<UpdateInputs, 'recipe' | 'rewards' | 'recordedRewards'>> & {
  readonly engine?: UpdateEngine;
};

/**
 * Makes the recorded updates of a run again. Only stored verdicts of judges count, and what the server of a teacher said; none is asked. Nothing is written.
 *
 * The engine is in the state after the update that was made last.
 */
export class Replayer {
  private opened: OpenedEngine | null = null;

  private constructor(
    private readonly source: ReplaySource,
    readonly recorded: RecordedUpdates,
    readonly recipe: Recipe,
    readonly rewards: RewardScorer,
  ) {}

  /** @throws TrainerError `RUN_UNKNOWN` */
  static async open(source: ReplaySource): Promise<Replayer> {
    const replayer = await Replayer.read(source);
    await replayer.openEngine();
    return replayer;
  }

  /**
   * Reads what was recorded, and opens no engine.
   *
   * @param asked the recipe of a run that has none
   * @throws TrainerError `RUN_UNKNOWN`
   */
  static async read(source: ReplaySource, asked: Recipe | null = null): Promise<Replayer> {
    const recorded = await readRecordedUpdates(source.log, source.runId);
    const recipe = asked ?? parseRecipe(recorded.run.recipe);
    return new Replayer(source, recorded, recipe, await loadRewards(source, recipe.reward));
  }

  /** Opens the engine in the state that the recipe starts from. */
  async openEngine(): Promise<void> {
    const { recipe, recorded } = this;
    const used = recorded.updates.get(1)?.commit.engine ?? null;
    const first = replayEngine(recipe, used, this.source.engine);
    this.opened = { recipe: first, engine: await this.makeEngine(first) };
  }

  /** The engine, once it is open. */
  get engine(): UpdateEngine {
    if (this.opened === null) throw new Error('the engine of this replay is not open');
    return this.opened.engine;
  }

  /** Whether a trainer outside made the updates. */
  private get isOutside(): boolean {
    return this.recorded.run.runKind === 'recorded';
  }

  get newestUpdate(): number {
    return Math.max(0, ...this.recorded.updates.keys());
  }

  /** @throws TrainerError `UPDATE_UNKNOWN` when the run has no such committed update */
  update(updateNumber: number): RecordedUpdate {
    const update = this.recorded.updates.get(updateNumber);
    if (update) return update;
    const rule = `not committed; the run has updates 1 … ${this.newestUpdate}`;
    throw new TrainerError('UPDATE_UNKNOWN', `update ${updateNumber} of run ${this.source.runId}: ${rule}`);
  }

  /** Loads the rewards of another recipe, with the verdicts and visits that this run has. */
  loadRewards(reward: Recipe['reward']): Promise<RewardScorer> {
    return loadRewards(this.source, reward);
  }

  /**
   * Brings the engine to the state that an update starts from: loads the newest checkpoint before it that can be read, and makes the updates
   * since again, which gives the same state bit for bit on the backend and machine that made them.
   *
   * @param onRecompute called before updates are made again
   */
  async goBefore(
    updateNumber: number,
    onRecompute?: (from: number, to: number) => void,
  ): Promise<ReplayOrigin> {
    const beganAfter = await this.loadNewestBefore(updateNumber);
    if (beganAfter + 1 < updateNumber) onRecompute?.(beganAfter + 1, updateNumber - 1);
    let firstInexact: number | null = null;
    for (let n = beganAfter + 1; n < updateNumber; n++) {
      await this.makeAgain(n);
      if (firstInexact === null && !(await this.isExact(n))) firstInexact = n;
    }
    return { beganAfter, firstInexact };
  }

  /**
   * Makes a recorded update again, or one that differs from it by `changes`.
   *
   * @throws TrainerError as `inputsOf`; `NOT_REPLAYABLE` when the weights of the reference policy, or of the teacher, can't be read
   * @throws RewardError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
   */
  async makeAgain(updateNumber: number, changes: ReplayChanges = {}): Promise<UpdateResult> {
    if (!changes.engine) await this.takeEngineOf(updateNumber);
    const inputs = await this.inputsOf(updateNumber, changes);
    return this.readable(updateNumber, () => computeUpdate({ engine: this.engine, ...inputs }));
  }

  /**
   * Reads what a recorded update was computed from, but for the engine.
   *
   * @throws TrainerError `EPISODES_CHANGED` when an episode is not what the update was computed from
   */
  async inputsOf<C extends ReplayChanges>(updateNumber: number, changes: C): Promise<RecordedInputs & C> {
    const { log } = this.source;
    const { plan, commit, trace, tokenOffsets } = this.update(updateNumber);
    const { recipe = this.recipe } = changes;
    const isUnchanged = changes.recipe === undefined && changes.rewards === undefined;
    const inputs = await this.inputsFor(plan, changes);
    requireSameEpisodes(inputs.columns, updateNumber, trace);
    return {
      ...inputs,
      // What a trainer outside took as rewards need not be what a recipe makes of the episodes.
      recordedRewards: this.isOutside ? null : commit.episodeRewards,
      ...changes,
      ...{ recipe, rewards: inputs.rewards },
      teacher: openRecordedTeacher(recipe, { log, updateNumber, offsets: tokenOffsets, isUnchanged }),
    };
  }

  /** Reads what an update by this plan would be computed from: one that was recorded, or is only asked about. */
  async inputsFor(
    plan: PlannedEpisodes,
    { recipe = this.recipe, rewards = this.rewards }: ReplayChanges,
  ): Promise<RecordedInputs> {
    const { reader, runId } = this.source;
    return {
      plan,
      columns: await readPlanColumns(reader, plan, runId, { keepsVersions: this.isOutside }),
      texts: readsTexts(recipe, rewards) ? await readPlanTexts(reader, plan, runId) : null,
      recipe,
      rewards,
      recordedRewards: null,
      reference: referencePolicy(recipe, this.recorded.policies),
      trainerState: this.recorded.updates.get(plan.updateNumber - 1)?.commit.trainerState ?? null,
    };
  }

  /** Does what reads weights beside those of the update. @throws TrainerError `NOT_REPLAYABLE` */
  async readable<T>(updateNumber: number, compute: () => Promise<T>): Promise<T> {
    try {
      return await compute();
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      const what = `update ${updateNumber}: the weights of the reference policy or of the teacher can't be read (${cause.message})`;
      throw new TrainerError('NOT_REPLAYABLE', what, { cause });
    }
  }

  /** Whether the engine's weights are those that the update was committed with, bit for bit. */
  async isExact(updateNumber: number): Promise<boolean> {
    const { weights } = this.update(updateNumber).commit;
    return (await this.nameLike(weights)).sha256 === weights.sha256;
  }

  /** Names the engine's weights; those that are the recorded ones bit for bit as these are. */
  nameLike(recorded: FileRef): Promise<FileRef> {
    return nameLike(this.engine, recorded, this.source.checkpoints);
  }

  /** Frees what the engine holds. */
  async close(): Promise<void> {
    await this.opened?.engine.close();
  }

  private async makeEngine(engine: EngineRecipe): Promise<UpdateEngine> {
    const { recipe } = this;
    const { tokenizer } = await openPolicyText({
      tokenizer: recipe.context.tokenizer,
      words: (await readEnvironment(recipe.environment)).words,
      directory: recipe.policy?.model,
    });
    const { vocabSize, hash: tokenizerHash } = tokenizer;
    const { checkpoints } = this.source;
    return openEngine({ recipe: { ...recipe, engine }, checkpoints, vocabSize, tokenizerHash });
  }

  /** Goes on with the kind of engine that made an update, in the state that the present one is in. */
  async takeEngineOf(updateNumber: number): Promise<void> {
    const { commit } = this.update(updateNumber);
    const wanted = replayEngine(this.recipe, commit.engine, this.source.engine);
    if (JSON.stringify(wanted) === JSON.stringify(this.opened?.recipe)) return;
    const directory = await mkdtemp(join(tmpdir(), 'retrace-replay-'));
    try {
      const files = new CheckpointFiles(directory);
      const state = await this.engine.save(files);
      await this.engine.close();
      this.opened = { recipe: wanted, engine: await this.makeEngine(wanted) };
      await this.engine.load(state, files);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Returns the update's number, or 0 where the engine keeps the state that the recipe starts from. */
  private async loadNewestBefore(updateNumber: number): Promise<number> {
    const present = new Set((await this.source.checkpoints.list()).map(({ sha256 }) => sha256));
    for (let n = updateNumber - 1; n > 0; n--) {
      const commit = this.recorded.updates.get(n)?.commit;
      if (!commit || !present.has(commit.weights.sha256) || !present.has(commit.optimizer.sha256)) continue;
      try {
        await this.engine.load(commit);
        return n;
      } catch (error) {
        // A damaged file: an earlier checkpoint leads to the same state.
        if (!(error instanceof PolicyError)) throw error;
      }
    }
    return 0;
  }
}

/** Inputs of an update, but for the engine. */
export type RecordedInputs = Omit<UpdateInputs, 'engine' | 'plan'> & { readonly plan: PlannedEpisodes };

/** A plan, as far as its episodes are read and its update is computed by it. */
export type PlannedEpisodes = UpdateInputs['plan'] & Pick<BatchPlanned, 'episodeIds' | 'runIds'>;

interface OpenedEngine {
  readonly recipe: EngineRecipe;
  readonly engine: UpdateEngine;
}

function loadRewards(
  { log, reader, visits, assigned, runId }: ReplaySource,
  reward: Recipe['reward'],
): Promise<RewardScorer> {
  return RewardScorer.load(reward, {
    verdicts: new VerdictStore({ log, reader, runId }),
    visits,
    assigned,
    asksJudges: false,
  });
}
