import { createHash } from 'node:crypto';
import type { Recipe } from '@retrace/config';
import {
  loadHuggingFaceModel,
  loadPolicyCheckpoint,
  modelFingerprint,
  policyCheckpointContent,
  PolicyOptimizer,
  ShardedOptimizer,
  Transformer,
  type BaseModel,
  type CheckpointFiles,
  type GradientStep,
  type GradientWorkers,
  type TransformerConfig,
} from '@retrace/policy';
import type { FileRef } from '@retrace/trajectory';
import { directoryOptions, madeConfig } from './recipe-model.js';

export interface PolicyStateOptions {
  readonly recipe: Recipe;
  readonly checkpoints: CheckpointFiles;
  readonly vocabSize: number;
  readonly tokenizerHash: string;
}

/** The files of one committed update. */
export interface StateFiles {
  readonly weights: FileRef;
  readonly optimizer: FileRef;
}

/**
 * The weights and the optimizer state that updates change, on the device, and their content-addressed files.
 * Loading what was saved gives the same bits.
 */
export class PolicyState {
  readonly modelConfig: TransformerConfig;
  private readonly base: BaseModel | null;
  /** SHA-256 of architecture and tokenizer: equal for all versions of one model. */
  readonly modelHash: string;
  readonly model: Transformer;
  readonly optimizer: PolicyOptimizer;
  private workers: GradientWorkers | null = null;
  private referenceModel: { readonly sha256: string; readonly model: Transformer } | null = null;

  /** @param start the model to start from and the directory it comes from; by default random weights of the recipe's model */
  constructor(
    private readonly options: PolicyStateOptions,
    start?: { readonly model: Transformer; readonly base: BaseModel },
  ) {
    this.base = start?.base ?? null;
    this.model =
      start?.model ??
      Transformer.initialize(madeConfig(options.recipe, options.vocabSize), options.recipe.seed);
    this.modelConfig = this.model.config;
    const identity = [this.modelConfig, options.tokenizerHash, ...(start ? [start.base.fingerprint] : [])];
    this.modelHash = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
    const { beta1, beta2, epsilon, weightDecay } = options.recipe.optimizer;
    this.optimizer = new PolicyOptimizer(this.model, { beta1, beta2, epsilon, weightDecay });
  }

  /** The state that a run starts from: the model that the recipe names, or random weights. */
  static async open(options: PolicyStateOptions): Promise<PolicyState> {
    const { policy, seed } = options.recipe;
    if (!policy) return new PolicyState(options);
    const model = await loadHuggingFaceModel(policy.model, {
      seed,
      ...directoryOptions(options.recipe, policy),
    });
    const base = { directory: policy.model, fingerprint: await modelFingerprint(policy.model) };
    return new PolicyState(options, { model, base });
  }

  /**
   * What makes the recipe's optimizer steps: the optimizer, or where `optimizer.dataParallel` is above 1 shards of each batch, on
   * the workers that were given, or else here one after the other, with the same bits.
   */
  get steps(): GradientStep {
    const numShards = this.options.recipe.optimizer.dataParallel ?? 1;
    if (numShards === 1) return this.optimizer;
    return new ShardedOptimizer(this.model, this.optimizer, { numShards, workers: this.workers });
  }

  /** Numbers that an update changes: weights, or adapters, and what a critic has for itself. */
  get numTrainedValues(): number {
    return this.model.numTrainedParameters;
  }

  /** Has the recipe's shards but the first computed by these. */
  shareWith(workers: GradientWorkers): void {
    this.workers = workers;
  }

  /** Goes to the state that a commit left. */
  async load(files: StateFiles): Promise<void> {
    const { checkpoints } = this.options;
    // Both files are sound before either is loaded.
    const optimizer = await checkpoints.open(files.optimizer);
    try {
      await loadPolicyCheckpoint(this.model, checkpoints, files.weights);
      await this.optimizer.loadState(optimizer);
    } finally {
      await optimizer.close();
    }
  }

  /** Trained weights alone, with what a reader needs to rebuild the model. */
  async saveWeights(): Promise<FileRef> {
    const { checkpoints, tokenizerHash } = this.options;
    return checkpoints.write(policyCheckpointContent(this.model, { tokenizerHash, base: this.base }));
  }

  async saveOptimizer(): Promise<FileRef> {
    return this.options.checkpoints.write(this.optimizer.stateContent());
  }

  /** The frozen model of those weights, kept until another is asked for. */
  async reference(weights: FileRef): Promise<Transformer> {
    if (this.referenceModel?.sha256 !== weights.sha256) {
      this.referenceModel?.model.dispose();
      this.referenceModel = null;
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
