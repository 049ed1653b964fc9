import { createHash } from 'node:crypto';
import type { Recipe } from '@retrace/config';
import {
  decodeSafetensors,
  encodeSafetensors,
  PolicyOptimizer,
  Transformer,
  type CheckpointFiles,
  type NamedTensors,
  type TransformerConfig,
} from '@retrace/policy';
import type { FileRef } from '@retrace/trajectory';

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

const firstMomentPrefix = 'first_moment.';
const secondMomentPrefix = 'second_moment.';

/**
 * The weights and the optimizer state that updates change, on the device, and their content-addressed files.
 * Loading what was saved gives the same bits.
 */
export class PolicyState {
  readonly modelConfig: TransformerConfig;
  /** SHA-256 of architecture and tokenizer: equal for all versions of one model. */
  readonly modelHash: string;
  readonly model: Transformer;
  readonly optimizer: PolicyOptimizer;
  private referenceModel: { readonly sha256: string; readonly model: Transformer } | null = null;

  constructor(private readonly options: PolicyStateOptions) {
    this.modelConfig = transformerConfig(options);
    this.modelHash = createHash('sha256')
      .update(JSON.stringify([this.modelConfig, options.tokenizerHash]))
      .digest('hex');
    this.model = Transformer.initialize(this.modelConfig, options.recipe.seed);
    const { beta1, beta2, epsilon, weightDecay } = options.recipe.optimizer;
    this.optimizer = new PolicyOptimizer(this.model, { beta1, beta2, epsilon, weightDecay });
  }

  /** Goes to the state that a commit left. */
  async load(files: StateFiles): Promise<void> {
    const weights = decodeSafetensors(await this.options.checkpoints.read(files.weights));
    const optimizer = decodeSafetensors(await this.options.checkpoints.read(files.optimizer));
    this.model.assignTensors(weights.tensors);
    this.optimizer.importState({
      step: Number(optimizer.metadata.step),
      firstMoments: withoutPrefix(optimizer.tensors, firstMomentPrefix),
      secondMoments: withoutPrefix(optimizer.tensors, secondMomentPrefix),
    });
  }

  /** Weights alone, with what a reader needs to rebuild the model. */
  async saveWeights(): Promise<FileRef> {
    return this.options.checkpoints.write(
      encodeSafetensors(await this.model.exportTensors(), {
        config: JSON.stringify(this.modelConfig),
        tokenizerHash: this.options.tokenizerHash,
      }),
    );
  }

  async saveOptimizer(): Promise<FileRef> {
    const state = await this.optimizer.exportState();
    const tensors = new Map([
      ...[...state.firstMoments].map(([name, tensor]) => [firstMomentPrefix + name, tensor] as const),
      ...[...state.secondMoments].map(([name, tensor]) => [secondMomentPrefix + name, tensor] as const),
    ]);
    return this.options.checkpoints.write(encodeSafetensors(tensors, { step: String(state.step) }));
  }

  /** The frozen model of those weights, kept until another is asked for. */
  async reference(weights: FileRef): Promise<Transformer> {
    if (this.referenceModel?.sha256 !== weights.sha256) {
      const { tensors } = decodeSafetensors(await this.options.checkpoints.read(weights));
      this.referenceModel?.model.dispose();
      this.referenceModel = {
        sha256: weights.sha256,
        model: Transformer.fromTensors(this.modelConfig, tensors),
      };
    }
    return this.referenceModel.model;
  }
}

function transformerConfig({ recipe, vocabSize }: PolicyStateOptions): TransformerConfig {
  return {
    ...recipe.model,
    vocabSize,
    ropeTheta: 10_000,
    rmsNormEps: 1e-6,
    tieWordEmbeddings: false,
    attentionBias: false,
    valueHead: recipe.loss.valueCoefficient > 0,
  };
}

function withoutPrefix(tensors: NamedTensors, prefix: string): NamedTensors {
  return new Map(
    [...tensors]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, tensor]) => [name.slice(prefix.length), tensor]),
  );
}
