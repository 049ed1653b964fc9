import { resolveEngine } from '@retrace/config';
import {
  accumulateLoss,
  SafetensorsFile,
  type AppliedGradients,
  type ApplyOptions,
  type CheckpointFiles,
  type FileRef,
  type LossTerms,
  type SequenceBatch,
  type TokenPasses,
  type TrainingBatch,
  type WrittenFile,
} from '@retrace/policy';
import type { UsedEngine } from '@retrace/trajectory';
import { isEngineLost, TrainerError } from '../../trainer-error.js';
import { requireStateInFile } from '../held-state.js';
import { teacherWeights } from '../../teacher/teacher-model.js';
import type { TensorflowEngineOptions } from '../tensorflow-engine.js';
import type {
  EngineState,
  EvaluatedTokens,
  EvaluationOptions,
  StepLoss,
  FixedPolicy,
  TaughtLogprobs,
  TeacherOptions,
  UpdateEngine,
} from '../update-engine.js';
import { EngineConnection } from './engine-connection.js';
import { reachEngine, type ReachedEngine } from './engine-process.js';
import { openModel, type OpenedModel } from './open-model.js';
import { nameSaved, saveState, saveWeights, type SaveRequest } from './saved-files.js';
import { TokenCalls } from './token-calls.js';

/**
 * `UpdateEngine` in another process, which computes with torch: token ids go there, three numbers a token come back, and the loss's
 * derivatives by them go there again (`libs/policy` → `losses/accumulate-loss.ts`), so that every loss is that of TensorFlow.js.
 *
 * The process keeps weights and optimizer. If it ends, or is another one, calls reject with `ENGINE_LOST`, and the engine is of no further
 * use: whoever needs it opens another and loads the last state that was saved.
 */
export class TorchEngine implements UpdateEngine {
  readonly modelHash: string;
  readonly location = '';
  readonly ratioTolerance: number;
  readonly used: UsedEngine;
  private readonly tokens: TokenCalls;
  private hasGradients = false;
  private reference: FileRef | null = null;

  private constructor(
    private readonly model: OpenedModel,
    private readonly checkpoints: CheckpointFiles,
    private readonly reached: ReachedEngine,
    private readonly connection: EngineConnection,
  ) {
    this.modelHash = model.modelHash;
    this.ratioTolerance = model.ratioTolerance;
    this.used = model.used;
    this.tokens = new TokenCalls(connection, model.recipe.optimizer.maxTokensPerMicroBatch);
  }

  /**
   * The engine of a run that starts, with the weights that TensorFlow.js makes for its recipe. Its process is started, or waited for.
   *
   * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED`; PolicyError as `TensorflowEngine.open`
   */
  static async open(options: TensorflowEngineOptions): Promise<TorchEngine> {
    const reached = await reachEngine(resolveEngine(options.recipe));
    const connection = new EngineConnection(reached.address, { ended: reached.ended });
    try {
      const model = await openModel(options, connection);
      return new TorchEngine(model, options.checkpoints, reached, connection);
    } catch (error) {
      await release(reached, connection);
      throw error;
    }
  }

  async evaluate(
    batch: SequenceBatch,
    { temperature, mask, squaredProbabilities = false }: EvaluationOptions,
  ): Promise<EvaluatedTokens> {
    const { valueHead } = this.model.config;
    const names = [
      ...(['logprob', 'entropy'] as const),
      ...(valueHead ? (['value'] as const) : []),
      ...(squaredProbabilities ? (['squaredProbabilities'] as const) : []),
    ];
    const options = { temperature, mask, weights: 'current', squaredProbabilities } as const;
    const columns = await this.tokens.evaluate(batch, names, options);
    return {
      logprobs: columns.logprob,
      entropies: columns.entropy,
      values: valueHead ? columns.value : null,
      sumSquaredProbabilities: squaredProbabilities ? columns.squaredProbabilities : null,
    };
  }

  async evaluateReference(
    { weights }: FixedPolicy,
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    await this.holdReference(weights);
    const options = { temperature, mask, weights: 'reference' } as const;
    return (await this.tokens.evaluate(batch, ['logprob'], options)).logprob;
  }

  /** A policy of a run, which must be of this engine's model. */
  async evaluateTeacher(
    batch: SequenceBatch,
    { temperature, mask, topK }: TeacherOptions,
  ): Promise<TaughtLogprobs> {
    const { distillation } = this.model.recipe;
    if (!distillation) throw new TypeError('recipe.distillation: missing; there is no teacher');
    await this.holdReference(teacherWeights(distillation.teacher));
    const options = { temperature, mask, weights: 'reference' } as const;
    if (topK !== null) return this.tokens.likeliest(batch, { ...options, topK });
    return { logprobs: (await this.tokens.evaluate(batch, ['logprob'], options)).logprob, top: null };
  }

  private async holdReference(weights: FileRef): Promise<void> {
    if (this.reference?.sha256 === weights.sha256) return;
    await this.connection.repeatable('reference', { weights: await this.checkpoints.locate(weights) });
    this.reference = weights;
  }

  async evaluateMovingReference(
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    // Where there is none it begins here; where there is one it stays.
    await this.moveReference(1);
    const options = { temperature, mask, weights: 'moving' } as const;
    return (await this.tokens.evaluate(batch, ['logprob'], options)).logprob;
  }

  async moveReference(decay: number): Promise<void> {
    await this.connection.change('move-reference', { decay });
  }

  async evaluateEnds(batch: SequenceBatch): Promise<Float32Array> {
    if (this.model.config.valueHead) return this.tokens.ends(batch);
    const message = 'the model has no value head; set loss.valueCoefficient above 0 to have values';
    throw new TrainerError('ENGINE_REFUSED', message);
  }

  async accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms> {
    let hasPassed = false;
    const passes: TokenPasses = {
      limits: this.model.config,
      forward: (microBatch, options) => {
        hasPassed ||= options.keepsGraph;
        return this.tokens.outputs(microBatch, options);
      },
      backward: (gradients) => {
        this.hasGradients = true;
        return this.tokens.backward(gradients);
      },
    };
    const { maxTokensPerMicroBatch } = this.model.recipe.optimizer;
    try {
      return await accumulateLoss(passes, batch, { ...loss, maxTokensPerMicroBatch });
    } catch (error) {
      if (hasPassed && !isEngineLost(error)) await this.discard();
      throw error;
    }
  }

  async step({
    learningRate,
    criticLearningRate = learningRate,
    maxGradientNorm,
    skipNormAbove,
    trains = 'all',
  }: ApplyOptions): Promise<AppliedGradients> {
    const hasCriticNorm = this.hasSeparateCritic;
    if (skipNormAbove !== undefined && this.model.recipe.engine?.backend === 'verl')
      throw new TrainerError(
        'ENGINE_REFUSED',
        'verl tells the norm after its step, so none is skipped for it',
      );
    if (!this.hasGradients)
      return { isApplied: true, gradientNorm: 0, criticGradientNorm: hasCriticNorm ? 0 : null };
    this.hasGradients = false;
    const { isApplied, gradientNorm, criticGradientNorm } = await this.connection.change<AppliedGradients>(
      'step',
      {
        learningRate,
        criticLearningRate,
        maxGradientNorm,
        criticMaxGradientNorm: maxGradientNorm,
        skipNormAbove: skipNormAbove ?? null,
        trains,
      },
    );
    // JSON has no NaN: null is a norm that is not finite.
    const norm = (value: number | null) => value ?? Number.NaN;
    return {
      isApplied,
      gradientNorm: norm(gradientNorm),
      criticGradientNorm: hasCriticNorm ? norm(criticGradientNorm) : null,
    };
  }

  async discard(): Promise<void> {
    this.hasGradients = false;
    await this.connection.change('discard', {});
  }

  /** Rejects: gradients stay in the engine's process, which may hold a part of them only. */
  takeGradients(): Promise<ReadonlyMap<string, Float32Array>> {
    const message = 'gradients stay in the process of engine "torch"; compare updates on engine "tensorflow"';
    return Promise.reject(new TrainerError('ENGINE_REFUSED', message));
  }

  async saveWeights(into = this.checkpoints, like?: FileRef): Promise<FileRef> {
    return saveWeights(this.connection, { ...(await this.requestLike(like)), into });
  }

  /** Does nothing: what is saved is in files. */
  forget(): Promise<void> {
    return Promise.resolve();
  }

  /** Offers nothing: the weights are in the worker, and reach samplers as files. */
  offerWeights(): void {
    return;
  }

  async save(
    into = this.checkpoints,
    onWritten?: (weights: WrittenFile) => void,
    like?: FileRef,
  ): Promise<EngineState> {
    return saveState(this.connection, { ...(await this.requestLike(like)), into, onWritten });
  }

  async nameWeights(like?: FileRef): Promise<FileRef> {
    return nameSaved(this.connection, 'weights', await this.requestLike(like));
  }

  async nameState(like?: FileRef): Promise<EngineState> {
    const request = await this.requestLike(like);
    const weights = await nameSaved(this.connection, 'weights', request);
    return { weights, optimizer: await nameSaved(this.connection, 'optimizer', request) };
  }

  async load(state: EngineState, from = this.checkpoints): Promise<void> {
    // Both files are verified before either is loaded.
    const optimizer = await from.locate(state.optimizer);
    const weights = await from.locate(state.weights);
    await requireStateAt(optimizer);
    await this.connection.change('load', { weights, optimizer });
    this.hasGradients = false;
  }

  /** Ends the process where it was started here. */
  close(): Promise<void> {
    return release(this.reached, this.connection);
  }

  private get hasSeparateCritic(): boolean {
    return typeof this.model.recipe.optimizer.criticLearningRate === 'number';
  }

  /** Whole files or shards as the recipe says, unless these are the same weights in the other form. */
  private async requestLike(like: FileRef | undefined): Promise<SaveRequest> {
    const { engine } = this.model.recipe;
    const { metadata } = this.model;
    const request = { metadata, sharded: engine?.shardedCheckpoints ?? false };
    // verl's engine gives whole tensors only.
    if (like === undefined || engine?.backend === 'verl') return request;
    const weights = await nameSaved(this.connection, 'weights', request);
    // In one form, all weights of a model have one size.
    if (weights.sizeBytes === like.sizeBytes) return request;
    const other = { metadata, sharded: !request.sharded };
    const { sha256 } = await nameSaved(this.connection, 'weights', other);
    return sha256 === like.sha256 ? other : request;
  }
}

async function requireStateAt(path: string): Promise<void> {
  const file = await SafetensorsFile.open(path);
  try {
    requireStateInFile(file);
  } finally {
    await file.close();
  }
}

async function release(reached: ReachedEngine, connection: EngineConnection): Promise<void> {
  connection.close();
  await reached.stop();
}
