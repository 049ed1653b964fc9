import { multipliesInFloat32, openedBackend, type BackendName } from '@retrace/compute';
import type { Recipe } from '@retrace/config';
import {
  loadHuggingFaceModel,
  loadPolicyCheckpoint,
  nameContent,
  modelFingerprint,
  policyCheckpointContent,
  PolicyOptimizer,
  evaluateLogprobs,
  ShardedOptimizer,
  startFromCheckpoint,
  Transformer,
  valuesAtEnd,
  WeightAverage,
  type AppliedGradients,
  type ApplyOptions,
  type BaseModel,
  type CheckpointFiles,
  type GradientStep,
  type GradientWorkers,
  type LossTerms,
  type OfferedPolicy,
  type SequenceBatch,
  type TrainingBatch,
  type TransformerConfig,
  type WrittenFile,
} from '@retrace/policy';
import type { CheckpointFile, UsedEngine } from '@retrace/trajectory';
import { requireStateInFile } from './held-state.js';
import { directoryOptions, madeConfig, hashModel } from './recipe-model.js';
import { openTeacher, requireTopK } from '../teacher/teacher-model.js';
import type {
  EngineState,
  EvaluatedTokens,
  EvaluationOptions,
  StepLoss,
  FixedPolicy,
  TaughtLogprobs,
  TeacherOptions,
  UpdateEngine,
} from './update-engine.js';

export interface TensorflowEngineOptions {
  readonly recipe: Recipe;
  readonly checkpoints: CheckpointFiles;
  readonly vocabSize: number;
  readonly tokenizerHash: string;
}

/** Where products are float32, runs show a fiftieth of this. */
const FLOAT32_TOLERANCE = 1e-4;
/** With factors of 8 to 11 bits, equal contexts in unequal batches differ by more. */
const ROUNDED_TOLERANCE = 1e-3;

/**
 * `UpdateEngine` on TensorFlow.js: weights and optimizer state are on the device of this process, their files content-addressed.
 * Where `optimizer.dataParallel` is above 1, steps are shared with worker processes.
 */
export class TensorflowEngine implements UpdateEngine {
  readonly modelHash: string;
  readonly location = '';
  readonly model: Transformer;
  readonly optimizer: PolicyOptimizer;
  private readonly base: BaseModel | null;
  private workers: GradientWorkers | null = null;
  private movingReference: WeightAverage | null = null;
  private teacher: Transformer | null = null;
  private referenceModel: { readonly sha256: string; readonly model: Transformer } | null = null;

  /** @param start the model to start from and the directory it comes from; by default random weights of the recipe's model */
  constructor(
    private readonly options: TensorflowEngineOptions,
    start?: { readonly model: Transformer; readonly base: BaseModel },
  ) {
    const { recipe, vocabSize, tokenizerHash } = options;
    this.base = start?.base ?? null;
    this.model = start?.model ?? Transformer.initialize(madeConfig(recipe, vocabSize), recipe.seed);
    this.modelHash = hashModel(this.model.config, tokenizerHash, this.base);
    const { beta1, beta2, epsilon, weightDecay, criticLearningRate } = recipe.optimizer;
    const adamW = { beta1, beta2, epsilon, weightDecay };
    const separateCritic = typeof criticLearningRate === 'number';
    const momentPlace = recipe.compute?.optimizerOffload;
    this.optimizer = new PolicyOptimizer(this.model, adamW, { separateCritic, momentPlace });
  }

  /**
   * The engine of a run that starts: with the model that the recipe names, or random weights, or those of the policy that `initFrom` names.
   *
   * @throws PolicyError for a policy of another architecture; TrainerError `TEACHER_REFUSED`
   */
  static async open(options: TensorflowEngineOptions): Promise<TensorflowEngine> {
    const engine = await TensorflowEngine.openModel(options);
    try {
      await engine.openOthers();
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Opens the teacher, and takes the weights of the policy that the run starts from. */
  private async openOthers(): Promise<void> {
    const { recipe, checkpoints, tokenizerHash } = this.options;
    const { initFrom, distillation } = recipe;
    if (distillation && !distillation.teacher.endpoint) {
      const { maxPositions, vocabSize } = this.model.config;
      this.teacher = await openTeacher(distillation.teacher, { checkpoints, tokenizerHash, maxPositions });
      requireTopK(distillation.topK ?? 0, Math.min(vocabSize, this.teacher.config.vocabSize));
    }
    if (!initFrom) return;
    if (!initFrom.source)
      throw new TypeError('recipe.initFrom.source: missing; it is set when a run of the recipe begins');
    await startFromCheckpoint(this.model, checkpoints, initFrom.source);
  }

  /** Shape of the teacher; null without one. */
  get teacherConfig(): TransformerConfig | null {
    return this.teacher?.config ?? null;
  }

  private static async openModel(options: TensorflowEngineOptions): Promise<TensorflowEngine> {
    const { policy, seed } = options.recipe;
    if (!policy) return new TensorflowEngine(options);
    const model = await loadHuggingFaceModel(policy.model, {
      seed,
      ...(policy.adapter ? { adapterDirectory: policy.adapter } : {}),
      ...(policy.critic ? { criticDirectory: policy.critic } : {}),
      ...directoryOptions(options.recipe, policy),
    });
    const base = { directory: policy.model, fingerprint: await modelFingerprint(policy.model) };
    return new TensorflowEngine(options, { model, base });
  }

  get used(): UsedEngine {
    const { optimizer, compute } = this.options.recipe;
    const backend = openedBackend();
    return {
      kind: 'tensorflow',
      version: backend === null ? '' : `${backend.name} ${backend.version}`,
      device: isGpuBackend(backend?.name) ? 'gpu' : 'cpu',
      numProcesses: optimizer.dataParallel ?? 1,
      precision: compute?.matMulPrecision ?? 'float32',
    };
  }

  get ratioTolerance(): number {
    return multipliesInFloat32() ? FLOAT32_TOLERANCE : ROUNDED_TOLERANCE;
  }

  /** Numbers that an update changes: weights or adapters, and those of the critic only. */
  get numTrainedValues(): number {
    return this.model.numTrainedParameters;
  }

  /** From now on these compute all of the recipe's shards except the first. */
  shareWith(workers: GradientWorkers): void {
    this.workers = workers;
  }

  evaluate(
    batch: SequenceBatch,
    { temperature, mask, squaredProbabilities }: EvaluationOptions,
  ): Promise<EvaluatedTokens> {
    return evaluateLogprobs(this.model, batch, {
      temperature,
      actionMask: mask,
      squaredProbabilities,
      maxTokensPerMicroBatch: this.passTokens,
    });
  }

  async evaluateReference(
    { weights }: FixedPolicy,
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    const logprobs = await this.logprobsOf(await this.reference(weights), batch, { temperature, mask });
    if (this.options.recipe.compute?.referenceOffload) this.disposeReference();
    return logprobs;
  }

  async evaluateTeacher(
    batch: SequenceBatch,
    { temperature, mask, topK }: TeacherOptions,
  ): Promise<TaughtLogprobs> {
    if (this.teacher === null) throw new TypeError('recipe.distillation: missing; there is no teacher');
    const { logprobs, likeliest } = await evaluateLogprobs(this.teacher, batch, {
      ...{ temperature, topK, actionMask: mask, maxTokensPerMicroBatch: this.passTokens },
      // A teacher of a directory may have room for more ids than the policy, which no token has.
      vocabSize: Math.min(this.model.config.vocabSize, this.teacher.config.vocabSize),
    });
    return { logprobs, top: likeliest };
  }

  evaluateMovingReference(batch: SequenceBatch, options: EvaluationOptions): Promise<Float32Array> {
    this.movingReference ??= WeightAverage.of(this.model);
    return this.logprobsOf(this.movingReference.model, batch, options);
  }

  moveReference(decay: number): Promise<void> {
    this.movingReference ??= WeightAverage.of(this.model);
    this.movingReference.move(this.model, decay);
    return Promise.resolve();
  }

  evaluateEnds(batch: SequenceBatch): Promise<Float32Array> {
    return valuesAtEnd(this.model, batch, { maxTokensPerMicroBatch: this.passTokens });
  }

  accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms> {
    return this.steps.accumulate(batch, {
      ...loss,
      maxTokensPerMicroBatch: this.passTokens,
      recomputeLayers: this.options.recipe.optimizer.recomputeLayers ?? false,
    });
  }

  step(options: ApplyOptions): Promise<AppliedGradients> {
    return this.steps.apply(options);
  }

  discard(): Promise<void> {
    this.optimizer.clearGradients();
    return Promise.resolve();
  }

  takeGradients(): Promise<ReadonlyMap<string, Float32Array>> {
    return this.optimizer.takeNamedGradients();
  }

  /**
   * Stores the trained weights, with what a reader needs to rebuild the model.
   *
   * @param into by default the files of the run
   */
  saveWeights(into = this.options.checkpoints): Promise<CheckpointFile> {
    return into.write(this.weightsContent());
  }

  private weightsContent(): AsyncIterable<Uint8Array> {
    return policyCheckpointContent(this.model, this.identity);
  }

  /** Does nothing: what is saved is in files. */
  forget(): Promise<void> {
    return Promise.resolve();
  }

  offerWeights(to: OfferedPolicy, policyVersion: number): void {
    to.offer(policyVersion, this.model);
  }

  /** The name that the current weights would be stored under; nothing is stored. */
  nameWeights(): Promise<CheckpointFile> {
    return nameContent(this.weightsContent());
  }

  /** The names that the current state would be stored under; nothing is stored. */
  async nameState(): Promise<EngineState> {
    const optimizer = await nameContent(this.optimizer.stateContent(this.movingReference));
    return { weights: await this.nameWeights(), optimizer };
  }

  async save(
    into = this.options.checkpoints,
    onWritten?: (weights: WrittenFile) => void,
  ): Promise<EngineState> {
    const [weights, optimizer] = await Promise.all([
      into.write(this.weightsContent(), onWritten),
      into.write(this.optimizer.stateContent(this.movingReference)),
    ]);
    return { weights, optimizer };
  }

  async load(state: EngineState, from = this.options.checkpoints): Promise<void> {
    // Both files are verified before either is loaded.
    const optimizer = await from.open(state.optimizer);
    try {
      requireStateInFile(optimizer);
      const movingReference = await WeightAverage.read(optimizer, this.model);
      try {
        await loadPolicyCheckpoint(this.model, from, state.weights);
        await this.optimizer.loadState(optimizer);
      } catch (error) {
        movingReference?.dispose();
        throw error;
      }
      this.movingReference?.dispose();
      this.movingReference = movingReference;
      this.optimizer.clearGradients();
    } finally {
      await optimizer.close();
    }
  }

  /** Frees the device memory. */
  close(): Promise<void> {
    this.movingReference?.dispose();
    this.teacher?.dispose();
    this.disposeReference();
    this.optimizer.dispose();
    this.model.dispose();
    return Promise.resolve();
  }

  private async logprobsOf(
    model: Transformer,
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    const { logprobs } = await evaluateLogprobs(model, batch, {
      temperature,
      actionMask: mask,
      maxTokensPerMicroBatch: this.passTokens,
    });
    return logprobs;
  }

  /** Names what a reader needs beside the weights to rebuild the model. */
  get identity(): Parameters<typeof policyCheckpointContent>[1] {
    return { tokenizerHash: this.options.tokenizerHash, base: this.base };
  }

  private get passTokens(): number {
    return this.options.recipe.optimizer.maxTokensPerMicroBatch;
  }

  /**
   * The optimizer, or where `optimizer.dataParallel` is above 1 shards of each batch: on the workers, or without any here one
   * after the other, with the same bits.
   */
  private get steps(): GradientStep {
    const numShards = this.options.recipe.optimizer.dataParallel ?? 1;
    if (numShards === 1) return this.optimizer;
    return new ShardedOptimizer(this.model, this.optimizer, { numShards, workers: this.workers });
  }

  private disposeReference(): void {
    this.referenceModel?.model.dispose();
    this.referenceModel = null;
  }

  /** The frozen model of saved weights, kept until another is asked for. */
  private async reference(weights: CheckpointFile): Promise<Transformer> {
    if (this.referenceModel?.sha256 !== weights.sha256) {
      this.disposeReference();
      // A clone shares what is frozen, and what is trained is replaced at once.
      const model = this.model.clone();
      try {
        await loadPolicyCheckpoint(model, this.options.checkpoints, weights);
      } catch (error) {
        model.dispose();
        throw error;
      }
      this.referenceModel = { sha256: weights.sha256, model };
    }
    return this.referenceModel.model;
  }
}

const GPU_BACKENDS: readonly (BackendName | undefined)[] = ['tensorflow-cuda', 'tfjs-node-gpu', 'webgpu'];

function isGpuBackend(name: BackendName | undefined): boolean {
  return GPU_BACKENDS.includes(name);
}
