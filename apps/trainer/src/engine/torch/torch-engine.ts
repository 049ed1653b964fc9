import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineOf, type Recipe } from '@retrace/config';
import {
  accumulateLoss,
  CheckpointFiles,
  cutMicroBatches,
  nameContent,
  policyCheckpointMetadata,
  type AppliedGradients,
  type ApplyOptions,
  type FileRef,
  type LossTerms,
  type MicroBatch,
  type OutputGradients,
  type SequenceBatch,
  type TokenColumns,
  type TrainingBatch,
  type TransformerConfig,
} from '@retrace/policy';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../../trainer-error.js';
import { TensorflowEngine, type TensorflowEngineOptions } from '../tensorflow-engine.js';
import type {
  EngineState,
  EvaluatedTokens,
  EvaluationOptions,
  StepLoss,
  UpdateEngine,
} from '../update-engine.js';
import { EngineConnection } from './engine-connection.js';
import { reachEngine, type ReachedEngine } from './engine-process.js';
import { decodeNumbers, encodeNumbers, encodeSequences } from './token-stream.js';

/** The weights that a forward pass uses: those that are trained, a fixed reference, or an average that moves. */
type Weights = 'current' | 'reference' | 'moving';

/** What an engine says when a model is opened. */
interface Opened {
  readonly instance: string;
  readonly ratioTolerance: number;
}

/** What an engine says of itself. */
interface EngineStatus {
  readonly versions: { readonly torch: string };
  readonly device: string;
  readonly worldSize: number;
}

/** Names of files in the directory of a save. */
interface Saved {
  readonly weights: { readonly file: string };
  readonly optimizer?: { readonly file: string };
}

/** The model as both sides know it. */
interface OpenedModel {
  readonly recipe: Recipe;
  readonly config: TransformerConfig;
  readonly modelHash: string;
  readonly ratioTolerance: number;
  readonly used: UsedEngine;
  /** Text entries of a policy's file. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * `UpdateEngine` in another process, which computes with torch: token ids go there, three numbers a token come back, and the loss's
 * derivatives by them go there again (`libs/policy` → `losses/accumulate-loss.ts`), so that every loss is that of TensorFlow.js.
 *
 * The process keeps weights and optimizer. If it ends, or is another one, calls reject with `ENGINE_LOST`, and the engine is of no further
 * use: whoever needs it opens another and loads the last state that was saved.
 */
export class TorchEngine implements UpdateEngine {
  readonly modelHash: string;
  readonly ratioTolerance: number;
  readonly used: UsedEngine;
  private numGraphs = 0;
  private hasGradients = false;
  private reference: FileRef | null = null;

  private constructor(
    private readonly model: OpenedModel,
    private readonly checkpoints: CheckpointFiles,
    private readonly reached: ReachedEngine,
    private readonly connection: EngineConnection,
    /** Where the process writes files that become checkpoints. */
    private readonly exchange: string,
  ) {
    this.modelHash = model.modelHash;
    this.ratioTolerance = model.ratioTolerance;
    this.used = model.used;
  }

  /**
   * The engine of a run that starts, with the weights that TensorFlow.js makes for its recipe. Its process is started, or waited for.
   *
   * @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED`; PolicyError as `TensorflowEngine.open`
   */
  static async open(options: TensorflowEngineOptions): Promise<TorchEngine> {
    const reached = await reachEngine(engineOf(options.recipe));
    const connection = new EngineConnection(reached.address, { ended: reached.ended });
    const exchange = await mkdtemp(join(tmpdir(), 'retrace-exchange-'));
    const first = await TensorflowEngine.open(options).catch(async (error: unknown) => {
      await release(reached, connection, exchange);
      throw error;
    });
    try {
      const { recipe } = options;
      const { modelHash, identity } = first;
      const { config } = first.model;
      const opened = await connection.open<Opened>(openRequest(recipe, config, identity.base));
      const start = new CheckpointFiles(exchange);
      const weights = await first.saveWeights(start);
      await connection.change('load', { weights: await start.locate(weights), optimizer: null });
      await start.remove(weights.sha256);
      const ratioTolerance = Math.max(opened.ratioTolerance, first.ratioTolerance);
      const metadata = policyCheckpointMetadata(config, identity);
      const used = usedEngine(await connection.read<EngineStatus>('engine'), recipe);
      const model = { recipe, config, modelHash, ratioTolerance, used, metadata };
      return new TorchEngine(model, options.checkpoints, reached, connection, exchange);
    } catch (error) {
      await release(reached, connection, exchange);
      throw error;
    } finally {
      await first.close();
    }
  }

  async evaluate(
    batch: SequenceBatch,
    { temperature, mask, squaredProbabilities = false }: EvaluationOptions,
  ): Promise<EvaluatedTokens> {
    const numTokens = batch.tokenIds.length;
    const columns = {
      logprob: new Float32Array(numTokens),
      entropy: new Float32Array(numTokens),
      value: this.model.config.valueHead ? new Float32Array(numTokens) : null,
      squaredProbabilities: squaredProbabilities ? new Float32Array(numTokens) : null,
    };
    for (const microBatch of this.cut(batch, mask)) {
      const outputs = await this.forward(microBatch, {
        temperature,
        weights: 'current',
        squaredProbabilities,
      });
      for (const [name, column] of Object.entries(columns)) {
        if (column === null) continue;
        const values = requireColumn(outputs, name);
        microBatch.positions.forEach((n, m) => {
          column[n] = values[m];
        });
      }
    }
    return {
      logprobs: columns.logprob,
      entropies: columns.entropy,
      values: columns.value,
      sumSquaredProbabilities: columns.squaredProbabilities,
    };
  }

  async evaluateReference(
    weights: FileRef,
    batch: SequenceBatch,
    options: EvaluationOptions,
  ): Promise<Float32Array> {
    if (this.reference?.sha256 !== weights.sha256) {
      await this.connection.repeatable('reference', { weights: await this.checkpoints.locate(weights) });
      this.reference = weights;
    }
    return this.logprobsOf('reference', batch, options);
  }

  async evaluateMovingReference(batch: SequenceBatch, options: EvaluationOptions): Promise<Float32Array> {
    // Where there is none it begins here; where there is one it stays.
    await this.moveReference(1);
    return this.logprobsOf('moving', batch, options);
  }

  async moveReference(decay: number): Promise<void> {
    await this.connection.change('move-reference', { decay });
  }

  async evaluateEnds({ tokenIds, sequenceOffsets }: SequenceBatch): Promise<Float32Array> {
    if (!this.model.config.valueHead) {
      const message = 'the model has no value head; set loss.valueCoefficient above 0 to have values';
      throw new TrainerError('ENGINE_REFUSED', message);
    }
    const body = encodeSequences(tokenIds, sequenceOffsets, null);
    const answer = await this.connection.tokens('ends', body, { isNumbered: false });
    return requireColumn(decodeNumbers(answer, sequenceOffsets.length - 1), 'value');
  }

  async accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms> {
    let hasPassed = false;
    const passes = {
      limits: this.model.config,
      forward: (
        microBatch: MicroBatch,
        { temperature, keepsGraph }: { temperature: number; keepsGraph: boolean },
      ) => {
        hasPassed ||= keepsGraph;
        return this.outputs(microBatch, temperature, keepsGraph);
      },
      backward: (gradients: OutputGradients) => this.backward(gradients),
    };
    const maxTokensPerMicroBatch = this.passTokens;
    try {
      return await accumulateLoss(passes, batch, { ...loss, maxTokensPerMicroBatch });
    } catch (error) {
      if (hasPassed && !isLost(error)) await this.discard();
      throw error;
    }
  }

  async step({
    learningRate,
    criticLearningRate = learningRate,
    maxGradientNorm,
    skipNormAbove,
  }: ApplyOptions): Promise<AppliedGradients> {
    const hasCriticNorm = this.hasSeparateCritic;
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

  async saveWeights(into = this.checkpoints): Promise<FileRef> {
    const { weights } = await this.written('weights', (path) => into.write(createReadStream(path)));
    return weights;
  }

  async save(into = this.checkpoints): Promise<EngineState> {
    return requireState(await this.written('state', (path) => into.write(createReadStream(path))));
  }

  async nameWeights(): Promise<FileRef> {
    const { weights } = await this.written('weights', (path) => nameContent(createReadStream(path)));
    return weights;
  }

  async nameState(): Promise<EngineState> {
    return requireState(await this.written('state', (path) => nameContent(createReadStream(path))));
  }

  async load(state: EngineState, from = this.checkpoints): Promise<void> {
    // Both files are verified before either is loaded.
    const optimizer = await from.locate(state.optimizer);
    const weights = await from.locate(state.weights);
    await this.connection.change('load', { weights, optimizer });
    this.hasGradients = false;
  }

  /** Ends the process where it was started here. */
  close(): Promise<void> {
    return release(this.reached, this.connection, this.exchange);
  }

  private get passTokens(): number {
    return this.model.recipe.optimizer.maxTokensPerMicroBatch;
  }

  private get hasSeparateCritic(): boolean {
    return typeof this.model.recipe.optimizer.criticLearningRate === 'number';
  }

  private cut(batch: SequenceBatch, mask: Uint8Array): MicroBatch[] {
    return cutMicroBatches(batch, mask, this.passTokens);
  }

  private async logprobsOf(
    weights: Weights,
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    const logprobs = new Float32Array(batch.tokenIds.length);
    for (const microBatch of this.cut(batch, mask)) {
      const values = requireColumn(await this.forward(microBatch, { temperature, weights }), 'logprob');
      microBatch.positions.forEach((n, m) => {
        logprobs[n] = values[m];
      });
    }
    return logprobs;
  }

  private async outputs(
    microBatch: MicroBatch,
    temperature: number,
    keepsGraph: boolean,
  ): Promise<TokenColumns> {
    const outputs = await this.forward(microBatch, { temperature, weights: 'current', keepsGraph });
    return {
      logprobs: requireColumn(outputs, 'logprob'),
      entropies: requireColumn(outputs, 'entropy'),
      values: outputs.get('value') ?? null,
    };
  }

  private async forward(
    { tokenIds, sequenceOffsets, mask, positions }: MicroBatch,
    {
      temperature,
      weights,
      keepsGraph = false,
      squaredProbabilities = false,
    }: {
      readonly temperature: number;
      readonly weights: Weights;
      readonly keepsGraph?: boolean;
      readonly squaredProbabilities?: boolean;
    },
  ): Promise<ReadonlyMap<string, Float32Array>> {
    if (keepsGraph) this.numGraphs += 1;
    const query = new URLSearchParams({
      temperature: `${temperature}`,
      keepGraph: keepsGraph ? '1' : '0',
      squaredProbabilities: squaredProbabilities ? '1' : '0',
      weights,
      ...(keepsGraph ? { graph: `${this.numGraphs}` } : {}),
    });
    const body = encodeSequences(tokenIds, sequenceOffsets, mask);
    const answer = await this.connection.tokens(`forward?${query}`, body, { isNumbered: keepsGraph });
    return decodeNumbers(answer, positions.length);
  }

  private async backward({ logprobs, entropies, values }: OutputGradients): Promise<void> {
    const body = encodeNumbers({ dLogprob: logprobs, dEntropy: entropies, dValue: values });
    this.hasGradients = true;
    await this.connection.change(`backward?graph=${this.numGraphs}`, body);
  }

  /** Has the process write its files, and makes references of them. */
  private async written(
    what: 'weights' | 'state',
    take: (path: string) => Promise<FileRef>,
  ): Promise<{ readonly weights: FileRef; readonly optimizer?: FileRef }> {
    const directory = await mkdtemp(join(this.exchange, 'save-'));
    try {
      const { metadata } = this.model;
      const saved = await this.connection.repeatable<Saved>('save', { directory, what, metadata });
      const weights = await take(join(directory, saved.weights.file));
      if (saved.optimizer === undefined) return { weights };
      return { weights, optimizer: await take(join(directory, saved.optimizer.file)) };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

function openRequest(
  { engine, optimizer }: Recipe,
  config: TransformerConfig,
  base: { readonly directory: string; readonly fingerprint: string } | null,
): object {
  const { lora } = config;
  const { beta1, beta2, epsilon, weightDecay, criticLearningRate } = optimizer;
  return {
    nonce: randomUUID(),
    model: { shape: config, ...base },
    lora: lora ? { rank: lora.rank, alpha: lora.alpha, targetModules: lora.targets } : null,
    valueHead: config.valueHead,
    valueTrunk: config.valueTrunk ?? null,
    precision: engine?.precision ?? 'float32',
    recomputeLayers: engine?.recomputeLayers ?? optimizer.recomputeLayers ?? false,
    offload: engine?.offload ?? false,
    maxTokensPerMicroBatch: optimizer.maxTokensPerMicroBatch,
    optimizer: { beta1, beta2, epsilon, weightDecay, separateCritic: typeof criticLearningRate === 'number' },
  };
}

function usedEngine({ versions, device, worldSize }: EngineStatus, { engine }: Recipe): UsedEngine {
  return {
    kind: 'torch',
    version: `torch ${versions.torch}`,
    device,
    numProcesses: worldSize,
    precision: engine?.precision ?? 'float32',
  };
}

async function release(
  reached: ReachedEngine,
  connection: EngineConnection,
  exchange: string,
): Promise<void> {
  connection.close();
  await reached.stop();
  await rm(exchange, { recursive: true, force: true });
}

function isLost(error: unknown): boolean {
  return error instanceof TrainerError && error.code === 'ENGINE_LOST';
}

function requireColumn(columns: ReadonlyMap<string, Float32Array>, name: string): Float32Array {
  const column = columns.get(name);
  if (column) return column;
  throw new TrainerError('ENGINE_LOST', `the engine's answer can't be used: column ${name} is missing`);
}

function requireState({
  weights,
  optimizer,
}: {
  readonly weights: FileRef;
  readonly optimizer?: FileRef;
}): EngineState {
  if (optimizer) return { weights, optimizer };
  throw new TrainerError('ENGINE_LOST', "the engine's answer to save names no file of the optimizer");
}
