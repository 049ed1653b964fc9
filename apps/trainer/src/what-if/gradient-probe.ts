import type { AppliedGradients, FileRef, LossTerms, SequenceBatch, TrainingBatch } from '@retrace/policy';
import type {
  EngineState,
  EvaluatedTokens,
  EvaluationOptions,
  StepLoss,
  FixedPolicy,
  TaughtLogprobs,
  TeacherOptions,
  UpdateEngine,
} from '../engine/update-engine.js';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';

/**
 * An engine that makes no optimizer step: the gradients of all mini-batches of an update add up at the weights that it starts from, and
 * `takeGradients` returns their sum.
 */
export class GradientProbe implements UpdateEngine {
  readonly modelHash: string;
  readonly ratioTolerance: number;
  readonly used: UsedEngine;

  constructor(private readonly engine: UpdateEngine) {
    this.modelHash = engine.modelHash;
    this.ratioTolerance = engine.ratioTolerance;
    this.used = engine.used;
  }

  evaluate(batch: SequenceBatch, options: EvaluationOptions): Promise<EvaluatedTokens> {
    return this.engine.evaluate(batch, options);
  }

  evaluateReference(
    policy: FixedPolicy,
    batch: SequenceBatch,
    options: Omit<EvaluationOptions, 'squaredProbabilities'>,
  ): Promise<Float32Array> {
    return this.engine.evaluateReference(policy, batch, options);
  }

  evaluateTeacher(batch: SequenceBatch, options: TeacherOptions): Promise<TaughtLogprobs> {
    return this.engine.evaluateTeacher(batch, options);
  }

  evaluateMovingReference(
    batch: SequenceBatch,
    options: Omit<EvaluationOptions, 'squaredProbabilities'>,
  ): Promise<Float32Array> {
    return this.engine.evaluateMovingReference(batch, options);
  }

  /** Does nothing: the weights stay, and so does what averages them. */
  moveReference(): Promise<void> {
    return Promise.resolve();
  }

  evaluateEnds(batch: SequenceBatch): Promise<Float32Array> {
    return this.engine.evaluateEnds(batch);
  }

  accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms> {
    return this.engine.accumulate(batch, loss);
  }

  step(): Promise<AppliedGradients> {
    return Promise.resolve({ gradientNorm: 0, criticGradientNorm: null, isApplied: true });
  }

  /** Rejects, since a mini-batch that is skipped can't be taken out of the sum. */
  discard(): Promise<void> {
    return Promise.reject(
      new TrainerError(
        'NON_FINITE_LOSS',
        'a mini-batch of this update has no finite loss at the weights that it starts from; there is no gradient to compare',
      ),
    );
  }

  takeGradients(): Promise<ReadonlyMap<string, Float32Array>> {
    return this.engine.takeGradients();
  }

  saveWeights(): Promise<FileRef> {
    return this.engine.saveWeights();
  }

  get location(): string {
    return this.engine.location;
  }

  /** Does nothing: what was saved belongs to the run. */
  forget(): Promise<void> {
    return Promise.resolve();
  }

  /** Offers nothing: nobody samples from it. */
  offerWeights(): void {
    return;
  }

  save(): Promise<EngineState> {
    return this.engine.save();
  }

  nameWeights(like?: FileRef): Promise<FileRef> {
    return this.engine.nameWeights(like);
  }

  nameState(like?: FileRef): Promise<EngineState> {
    return this.engine.nameState(like);
  }

  load(state: EngineState): Promise<void> {
    return this.engine.load(state);
  }

  /** Does nothing: the engine behind it belongs to somebody else. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
