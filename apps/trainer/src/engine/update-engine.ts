import type {
  AppliedGradients,
  ApplyOptions,
  CheckpointFiles,
  FileRef,
  LossOptions,
  LossTerms,
  OfferedPolicy,
  SequenceBatch,
  TeacherTop,
  TrainingBatch,
  WrittenFile,
} from '@retrace/policy';
import type { UsedEngine } from '@retrace/trajectory';

/** How logprobs of given tokens are computed. */
export interface EvaluationOptions {
  /** Logits are divided by this, as they were when the tokens were sampled. */
  readonly temperature: number;
  /** [N] 1 for the tokens to evaluate; what comes back for the others is not read. */
  readonly mask: Uint8Array;
  /** Whether Σ_v π_v² is wanted too (default false). */
  readonly squaredProbabilities?: boolean;
}

/** The policy's view of given tokens, all [N]. */
export interface EvaluatedTokens {
  /** log π of each token given its prefix, in nats. */
  readonly logprobs: Float32Array;
  /** Entropy of the distribution that each token was chosen from, in nats; NaN from an engine that has none. */
  readonly entropies: Float32Array;
  /** V of the state in which each token was chosen; null for a policy without a critic. */
  readonly values: Float32Array | null;
  /** Σ_v π_v² of the distribution that each token was chosen from; null when not asked for. */
  readonly sumSquaredProbabilities: Float32Array | null;
}

export interface TeacherOptions extends Omit<EvaluationOptions, 'squaredProbabilities'> {
  /** How many of the teacher's likeliest ids are wanted at each token; null: none. */
  readonly topK: number | null;
}

/** A teacher's view of given tokens. */
export interface TaughtLogprobs {
  /** [N] log π of each token given its prefix, in nats. */
  readonly logprobs: Float32Array;
  /** Its likeliest ids at the tokens [N] of the mask; null without `topK`. */
  readonly top: TeacherTop | null;
}

/** The loss of an optimizer step; how a batch is cut to fit into memory is the engine's own matter. */
export type StepLoss = Omit<LossOptions, 'maxTokensPerMicroBatch' | 'recomputeLayers'>;

/** A policy that was published; training does not change it. */
export interface FixedPolicy {
  readonly weights: FileRef;
  /** Where the engine that made it keeps it, as `UpdateEngine.location` said then (default `''`). */
  readonly location?: string;
}

/** The content-addressed files of a saved state. */
export interface EngineState {
  readonly weights: FileRef;
  readonly optimizer: FileRef;
}

/**
 * The maker of gradients: it holds one policy with its optimizer, on this machine or on another.
 *
 * The trainer owns sampling, rewards, advantages, corrections, plans, commits and lineage; the engine owns forward, backward and
 * optimizer. Token columns go in; logprobs, loss terms and saved states come out. Weights never do, and gradients only where updates are
 * compared (`takeGradients`): training needs none.
 *
 * Duties of an implementer, which `update-engine.contract.ts` checks:
 * - Calls come one at a time: the trainer awaits each before the next. `evaluate…` changes nothing.
 * - Everything is flat and ragged (`SequenceBatch`); nothing depends on how the engine cuts or pads a batch, beyond rounding.
 * - The gradient is that of Σ w·ℓ over all batches accumulated since the last step. `lossWeights` carry the whole aggregation:
 *   an engine that averages by itself must undo that.
 * - What it cannot compute as asked (a loss, an optimizer setting, a critic) it refuses before anything is accumulated;
 *   it never uses the nearest thing instead.
 * - A rejected `accumulate` never leaves a part of its batch accumulated, and a rejected `step` leaves weights and optimizer as
 *   they were.
 * - An engine whose process has ended rejects every call with TrainerError `ENGINE_LOST`; it never goes on with other weights.
 * - A saved state is durable when `save` resolves. Loaded again, here or in another process, it continues with the same results: the
 *   same bits where the engine is deterministic. What was not saved is scratch: after a crash only saved states count.
 */
export interface UpdateEngine {
  /** Names architecture, base model and tokenizer: equal for all versions of one policy. */
  readonly modelHash: string;
  /** Largest |ratio − 1| by which probabilities of equal weights may differ between this engine and the sampler: of any token, in 16 bits in the mean. */
  readonly ratioTolerance: number;
  /** Description of the engine for the commits of its updates. */
  readonly used: UsedEngine;

  /** Evaluates tokens under the current weights. */
  evaluate(batch: SequenceBatch, options: EvaluationOptions): Promise<EvaluatedTokens>;

  /** [N] log π of tokens under a stored policy. */
  evaluateReference(
    policy: FixedPolicy,
    batch: SequenceBatch,
    options: Omit<EvaluationOptions, 'squaredProbabilities'>,
  ): Promise<Float32Array>;

  /** Evaluates tokens under the recipe's teacher (`distillation`). Rejects where it has none. */
  evaluateTeacher(batch: SequenceBatch, options: TeacherOptions): Promise<TaughtLogprobs>;

  /** [N] log π of tokens under the moving reference, which begins at the current weights where there is none yet. */
  evaluateMovingReference(
    batch: SequenceBatch,
    options: Omit<EvaluationOptions, 'squaredProbabilities'>,
  ): Promise<Float32Array>;

  /**
   * Moves the moving reference towards the current weights: a ← decay·a + (1 − decay)·w. It is part of what `save` stores and `load`
   * returns to; a state that was saved without one has none.
   */
  moveReference(decay: number): Promise<void>;

  /** [S] V after the last token of each sequence, 0 for an empty one. Rejects for a policy without a critic. */
  evaluateEnds(batch: SequenceBatch): Promise<Float32Array>;

  /** Adds the gradient of a batch's loss to what is accumulated. A batch without a weighted token adds nothing. */
  accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms>;

  /** One optimizer step with the accumulated gradients, which are cleared; no step, and norms of 0, when there are none. */
  step(options: ApplyOptions): Promise<AppliedGradients>;

  /** Drops the accumulated gradients. */
  discard(): Promise<void>;

  /**
   * Returns the accumulated gradients by the name of their parameter, flat, and clears them; empty when nothing is accumulated. Names and
   * lengths are those of every engine with this `modelHash`. An engine whose gradients stay elsewhere rejects, with nothing changed.
   */
  takeGradients(): Promise<ReadonlyMap<string, Float32Array>>;

  /**
   * Stores the current weights only, as a policy version that samplers and readers can open.
   *
   * @param into by default the files of the run
   * @param like as of `nameWeights`
   */
  saveWeights(into?: CheckpointFiles, like?: FileRef): Promise<FileRef>;

  /** Where the engine keeps the weights that it saved last, for those who evaluate or sample there; `''` where their file is all there is. */
  readonly location: string;

  /** Drops what the engine keeps under such a location, which nobody will ask for; an engine of files keeps nothing. */
  forget(location: string): Promise<void>;

  /** Offers the current weights to the sampler of this process, as this version; an engine whose weights are elsewhere offers nothing. */
  offerWeights(to: OfferedPolicy, policyVersion: number): void;

  /**
   * Stores weights and optimizer.
   *
   * @param onWritten called at most once, with weights that this machine can open by `openWritten`: as soon as they are written where they are whole,
   *   once they are durable where they are in shards. With files in object storage an engine of this process does not call it; one whose worker
   *   writes does, before the file is stored there, so that only readers with the same cache can use it
   * @param like weights, as of `nameWeights`
   */
  save(
    into?: CheckpointFiles,
    onWritten?: (weights: WrittenFile) => void,
    like?: FileRef,
  ): Promise<EngineState>;

  /**
   * The name that the current weights would be stored under; nothing is stored.
   *
   * @param like weights that may be the same ones, stored in another form: in shards, or whole. Where an engine that knows both forms finds
   *   that they are, theirs is the name
   */
  nameWeights(like?: FileRef): Promise<FileRef>;

  /**
   * The names that the current state would be stored under; nothing is stored.
   *
   * @param like weights, as of `nameWeights`
   */
  nameState(like?: FileRef): Promise<EngineState>;

  /**
   * Returns to a saved state, and drops what is accumulated. Rejects, with the engine as it was, when a file is missing or damaged. Every
   * engine with this `modelHash` loads the states of every other, but for those that a server keeps and does not hand out: `ENGINE_REFUSED`.
   */
  load(state: EngineState, from?: CheckpointFiles): Promise<void>;

  /** Frees what the engine holds and ends what it started; no call follows. */
  close(): Promise<void>;
}
