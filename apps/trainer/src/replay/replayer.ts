import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRecipe, type EngineRecipe, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import type { EventLog } from '@retrace/log';
import { CheckpointFiles, isUnreadable, openPolicyText, PolicyError } from '@retrace/policy';
import {
  RewardScorer,
  VerdictStore,
  type AssignedRewardSource,
  type RewardScorerOptions,
} from '@retrace/scoring';
import { readPlanColumns, readPlanTexts } from '@retrace/store';
import {
  episodeDigests,
  type EpisodeColumns,
  type UpdateApplied,
  type UsedEngine,
} from '@retrace/trajectory';
import { openEngine } from '../engine/open-engine.js';
import type { UpdateEngine } from '../engine/update-engine.js';
import { TrainerError } from '../trainer-error.js';
import { computeUpdate } from '../update/compute-update.js';
import type { EpisodeSource } from '../update/episode-source.js';
import { referencePolicy } from '../update/reference-logprobs.js';
import type { UpdateInputs } from '../update/update-inputs.js';
import { readsTexts } from '../update/update-needs.js';
import type { UpdateResult } from '../update/update-result.js';
import { RecordedTeacher } from './recorded-teacher.js';
import { readRecordedUpdates, type RecordedUpdate, type RecordedUpdates } from './recorded-updates.js';

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
  private constructor(
    private readonly source: ReplaySource,
    readonly recorded: RecordedUpdates,
    readonly recipe: Recipe,
    readonly rewards: RewardScorer,
    private readonly open: (engine: EngineRecipe) => Promise<UpdateEngine>,
    private opened: OpenedEngine,
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
    const open = (engine: EngineRecipe) =>
      openEngine({ recipe: { ...recipe, engine }, checkpoints, vocabSize, tokenizerHash });
    const rewards = await loadRewards(source, recipe.reward);
    const first = replayEngine(recipe, recorded.updates.get(1)?.commit.engine ?? null, source.engine);
    const opened = { recipe: first, engine: await open(first) };
    return new Replayer(source, recorded, recipe, rewards, open, opened);
  }

  get engine(): UpdateEngine {
    return this.opened.engine;
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
   * @throws TrainerError `EPISODES_CHANGED` when an episode is not what the update was computed from; `NOT_REPLAYABLE` when the weights of the
   *   reference policy, or of the teacher, can't be read
   * @throws ScoringError `REWARD_CHANGED` when an episode has another reward than it had, as the code of a reward was changed
   */
  async makeAgain(updateNumber: number, changes: ReplayChanges = {}): Promise<UpdateResult> {
    const { log, reader, runId } = this.source;
    const { plan, commit, trace, tokenOffsets } = this.update(updateNumber);
    const { recipe = this.recipe, rewards = this.rewards } = changes;
    const isUnchanged = changes.recipe === undefined && changes.rewards === undefined;
    if (!changes.engine) await this.takeEngineOf(commit);
    const columns = await readPlanColumns(reader, plan, runId);
    requireSameEpisodes(columns, updateNumber, trace);
    try {
      return await computeUpdate({
        engine: this.engine,
        recordedRewards: commit.episodeRewards,
        ...changes,
        plan,
        columns,
        texts: readsTexts(recipe, rewards) ? await readPlanTexts(reader, plan, runId) : null,
        recipe,
        rewards,
        reference: referencePolicy(recipe, this.recorded.policies),
        teacher: recipe.distillation?.teacher.endpoint
          ? new RecordedTeacher({ log, updateNumber, offsets: tokenOffsets, isUnchanged })
          : null,
        trainerState: this.recorded.updates.get(updateNumber - 1)?.commit.trainerState ?? null,
      });
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      const what = `update ${updateNumber}: the weights of the reference policy or of the teacher can't be read (${cause.message})`;
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

  /** Goes on with the kind of engine that made an update, in the state that the present one is in. */
  private async takeEngineOf(commit: UpdateApplied): Promise<void> {
    const wanted = replayEngine(this.recipe, commit.engine, this.source.engine);
    if (JSON.stringify(wanted) === JSON.stringify(this.opened.recipe)) return;
    const directory = await mkdtemp(join(tmpdir(), 'retrace-replay-'));
    try {
      const files = new CheckpointFiles(directory);
      const state = await this.engine.save(files);
      await this.engine.close();
      this.opened = { recipe: wanted, engine: await this.open(wanted) };
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

/** @throws TrainerError `EPISODES_CHANGED` */
function requireSameEpisodes(
  columns: EpisodeColumns,
  updateNumber: number,
  trace: RecordedUpdate['trace'],
): void {
  if (trace === null || trace.episodeDigests.length === 0) return;
  const recorded = new Map(trace.episodeIds.map((episodeId, e) => [episodeId, trace.episodeDigests[e]]));
  for (const [e, digest] of episodeDigests(columns).entries()) {
    const episodeId = columns.episodeIds[e];
    if (recorded.get(episodeId) === digest) continue;
    const what = `update ${updateNumber}: episode ${episodeId} is not what it was computed from`;
    const rule =
      'its columns in the store have another digest than its UpdateTraced states; `retrace verify` compares them all';
    throw new TrainerError('EPISODES_CHANGED', `${what}: ${rule}`);
  }
}

interface OpenedEngine {
  readonly recipe: EngineRecipe;
  readonly engine: UpdateEngine;
}

/**
 * An engine of the kind that made an update, in as many processes and in the same precision. It is started here, since one that answers at an
 * address may be training.
 */
function replayEngine(
  { engine }: Recipe,
  used: UsedEngine | null,
  asked: Partial<EngineRecipe> = {},
): EngineRecipe {
  const { kind = used?.kind ?? 'tensorflow' } = asked;
  if (kind !== 'torch') return { kind: 'tensorflow' };
  const python = engine?.python === undefined ? {} : { python: engine.python };
  if (used?.kind !== 'torch') return { ...python, ...asked, kind };
  const precision = used.precision as 'float32' | 'bfloat16';
  return { ...python, processes: used.numProcesses, precision, ...asked, kind };
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
