import { parseRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import type { EventLog } from '@retrace/log';
import { isUnreadable, openPolicyText, PolicyError, type CheckpointFiles } from '@retrace/policy';
import {
  RewardScorer,
  VerdictStore,
  type AssignedRewardSource,
  type RewardScorerOptions,
} from '@retrace/scoring';
import { TensorflowEngine } from '../engine/tensorflow-engine.js';
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { computeUpdate } from '../update/compute-update.js';
import type { EpisodeSource } from '../update/episode-source.js';
import { referencePolicy } from '../update/reference-logprobs.js';
import type { UpdateInputs } from '../update/update-inputs.js';
import { readPlanColumns, readPlanTexts } from '../update/plan-columns.js';
import { readsTexts } from '../update/update-needs.js';
import type { UpdateResult } from '../update/update-result.js';
import { readRecordedUpdates, type RecordedUpdate, type RecordedUpdates } from './recorded-updates.js';

/** Where the updates of a run were recorded. */
export interface ReplaySource {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly reader: EpisodeSource & AssignedRewardSource;
  /** Needed for rewards that count visits. */
  readonly visits?: RewardScorerOptions['visits'];
  readonly runId: string;
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
 * Makes the recorded updates of a run again. Only stored verdicts of judges count; none is asked for. Nothing is written.
 *
 * The engine is in the state after the update that was made last.
 */
export class Replayer {
  private constructor(
    private readonly source: ReplaySource,
    readonly recorded: RecordedUpdates,
    readonly recipe: Recipe,
    readonly rewards: RewardScorer,
    readonly engine: TensorflowEngine,
  ) {}

  /** @throws TrainerError `RUN_UNKNOWN` */
  static async open(source: ReplaySource): Promise<Replayer> {
    const { log, runId, checkpoints } = source;
    const recorded = await readRecordedUpdates(log, runId);
    const recipe = parseRecipe(recorded.run.recipe);
    const { tokenizer } = await openPolicyText({
      tokenizer: recipe.context.tokenizer,
      words: (await readEnvironment(recipe.environment)).words,
      directory: recipe.policy?.model,
    });
    const { vocabSize, hash: tokenizerHash } = tokenizer;
    const engine = await TensorflowEngine.open({ recipe, checkpoints, vocabSize, tokenizerHash });
    return new Replayer(source, recorded, recipe, await loadRewards(source, recipe.reward), engine);
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
   * @throws TrainerError `NOT_REPLAYABLE` when the weights of the reference policy can't be read
   * @throws ScoringError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
   */
  async makeAgain(updateNumber: number, changes: ReplayChanges = {}): Promise<UpdateResult> {
    const { reader, runId } = this.source;
    const { plan, commit } = this.update(updateNumber);
    const { recipe = this.recipe, rewards = this.rewards } = changes;
    try {
      return await computeUpdate({
        engine: this.engine,
        recordedRewards: commit.episodeRewards,
        ...changes,
        plan,
        columns: await readPlanColumns(reader, plan, runId),
        texts: readsTexts(recipe, rewards) ? await readPlanTexts(reader, plan, runId) : null,
        recipe,
        rewards,
        reference: referencePolicy(recipe, this.recorded.policies),
        trainerState: this.recorded.updates.get(updateNumber - 1)?.commit.trainerState ?? null,
      });
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      const what = `update ${updateNumber}: the weights of the reference policy can't be read (${cause.message})`;
      throw new TrainerError('NOT_REPLAYABLE', what, { cause });
    }
  }

  /** Whether the engine's weights are those that the update was committed with, bit for bit. */
  async isExact(updateNumber: number): Promise<boolean> {
    const { sha256 } = await this.engine.nameWeights();
    return sha256 === this.update(updateNumber).commit.weights.sha256;
  }

  /** Frees what the engine holds. */
  close(): Promise<void> {
    return this.engine.close();
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

function loadRewards(
  { log, reader, visits, runId }: ReplaySource,
  reward: Recipe['reward'],
): Promise<RewardScorer> {
  return RewardScorer.load(reward, {
    verdicts: new VerdictStore({ log, reader, runId }),
    visits,
    asksJudges: false,
  });
}
