import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  accumulateLoss,
  adapterCheckpointContent,
  cutMicroBatches,
  heldStateContent,
  readHeldState,
  nameContent,
  PolicyError,
  type AppliedGradients,
  type ApplyOptions,
  type CheckpointFiles,
  type FileRef,
  type HeldState,
  type LossTerms,
  type SequenceBatch,
  type TokenPasses,
  type TrainingBatch,
} from '@retrace/policy';
import {
  deleteCheckpoint,
  downloadAdapter,
  findGradientNorm,
  TrainingSession,
  type TinkerError,
  type TrainingModel,
} from '@retrace/tinker';
import type { UsedEngine } from '@retrace/trajectory';
import { TrainerError } from '../../trainer-error.js';
import type { TensorflowEngineOptions } from '../tensorflow-engine.js';
import type {
  EngineState,
  EvaluatedTokens,
  EvaluationOptions,
  StepLoss,
  FixedPolicy,
  TaughtLogprobs,
  UpdateEngine,
} from '../update-engine.js';
import { asked, changed, opened } from './engine-error.js';
import { FrozenPolicy, requestLogprobs } from './frozen-policy.js';
import { gradientData, type DerivedMicroBatch } from './micro-batch-data.js';
import { openServedModel, type TinkerModel } from './served-model.js';

/** Logprobs of equal weights differed by 2e-6 between SkyRL's JAX back-end and TensorFlow.js in float32; a server's sums over more tokens differ by more. */
const RATIO_TOLERANCE = 2e-3;

type Content = ReturnType<typeof adapterCheckpointContent>;

/**
 * `UpdateEngine` in a server of the Tinker API: it trains adapters of a base model, and evaluates tokens.
 *
 * The server has losses of its own, of which one is used: at a ratio of 1 `importance_sampling` has any derivative by log π that is asked for, so every loss
 * is that of TensorFlow.js. Derivatives stay here until the step, which sends them all: a batch that is refused or dropped never reached the server.
 *
 * The model in the server is scratch. What counts are checkpoints: the adapter is downloaded, and the rest of a state stays in the server under a name that a
 * small file keeps. If the model is lost, calls reject with `ENGINE_LOST`, and whoever needs the engine opens another and loads the last state.
 */
export class TinkerEngine implements UpdateEngine {
  readonly modelHash: string;
  readonly ratioTolerance = RATIO_TOLERANCE;
  readonly used: UsedEngine;
  private accumulated: DerivedMicroBatch[] = [];
  /** The newest save of the current weights; null where they have changed since. */
  private saved: { readonly path: string; readonly weights: FileRef } | null = null;
  private readonly reference: FrozenPolicy;

  private constructor(
    private readonly served: TinkerModel,
    private readonly checkpoints: CheckpointFiles,
    private readonly session: TrainingSession,
    private model: TrainingModel,
  ) {
    this.modelHash = served.modelHash;
    this.used = served.used;
    this.reference = new FrozenPolicy(session, served.request);
  }

  /**
   * The engine of a run that starts: the base model with a fresh adapter of the server's, which changes nothing yet.
   *
   * @throws as `openServedModel`
   */
  static async open(options: TensorflowEngineOptions): Promise<TinkerEngine> {
    const served = await openServedModel(options);
    const { client, request, promises } = served;
    try {
      const session = await opened(() => TrainingSession.open(client, promises));
      try {
        const model = await opened(() => session.createTrained(request));
        return new TinkerEngine(served, options.checkpoints, session, model);
      } catch (error) {
        await session.close();
        throw error;
      }
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async evaluate(batch: SequenceBatch, options: EvaluationOptions): Promise<EvaluatedTokens> {
    if (options.squaredProbabilities === true)
      throw refused('Σπ² of tokens, which the advantage estimator reads');
    const unknown = new Float32Array(batch.tokenIds.length).fill(Number.NaN);
    const logprobs = await this.evaluateIn(() => Promise.resolve(this.model), batch, options);
    return { logprobs, entropies: unknown, values: null, sumSquaredProbabilities: null };
  }

  evaluateReference(
    policy: FixedPolicy,
    batch: SequenceBatch,
    options: EvaluationOptions,
  ): Promise<Float32Array> {
    return this.evaluateIn(() => this.reference.model(policy), batch, options);
  }

  /** Rejects: a server takes no weights of a teacher. */
  evaluateTeacher(): Promise<TaughtLogprobs> {
    return Promise.reject(refused('a policy that teaches'));
  }

  evaluateMovingReference(): Promise<Float32Array> {
    return Promise.reject(refused('a moving reference'));
  }

  moveReference(): Promise<void> {
    return Promise.reject(refused('a moving reference'));
  }

  evaluateEnds(): Promise<Float32Array> {
    return Promise.reject(refused('a critic'));
  }

  async accumulate(batch: TrainingBatch, loss: StepLoss): Promise<LossTerms> {
    if (loss.distillation) throw refused('the logprobs of other tokens than the sampled ones');
    if (loss.entropyCoefficient !== 0) throw refused('the entropy of tokens, which the loss reads');
    requirePlain(loss.temperature);
    const { maxTokensPerMicroBatch } = this.served.recipe.optimizer;
    const microBatches = cutMicroBatches(batch, batch.lossWeights, maxTokensPerMicroBatch);
    const derived: DerivedMicroBatch[] = [];
    let evaluated: Promise<readonly Float32Array[]> | null = null;
    let numPasses = 0;
    const passes: TokenPasses = {
      limits: { ...this.served.config, valueHead: false },
      // The first pass evaluates them all at once; the weights stay the same until the step.
      forward: async () => {
        evaluated ??= asked(() => requestLogprobs(this.model, microBatches));
        const logprobs = (await evaluated)[numPasses++ % microBatches.length];
        return { logprobs, entropies: new Float32Array(logprobs.length).fill(Number.NaN), values: null };
      },
      backward: async ({ logprobs: gradients }) => {
        const m = derived.length;
        const logprobs = (await (evaluated ?? []))[m];
        derived.push({ microBatch: microBatches[m], logprobs, gradients });
      },
    };
    const terms = await accumulateLoss(passes, batch, { ...loss, maxTokensPerMicroBatch });
    this.accumulated.push(...derived);
    return terms;
  }

  async step({ learningRate, maxGradientNorm, skipNormAbove }: ApplyOptions): Promise<AppliedGradients> {
    if (typeof skipNormAbove === 'number') throw refused('a bound above which steps are skipped');
    const parts = this.accumulated.splice(0);
    if (parts.length === 0) return { isApplied: true, gradientNorm: 0, criticGradientNorm: null };
    const { promises, recipe } = this.served;
    const { beta1, beta2, epsilon, weightDecay } = recipe.optimizer;
    this.saved = null;
    const adam = { learningRate, beta1, beta2, epsilon, weightDecay };
    const gradientNorm = await changed(async () => {
      const bound = promises.clipsGradients ? maxGradientNorm : 0;
      const data = gradientData(parts, promises.reduction);
      return findGradientNorm(await this.model.step(data, { ...adam, maxGradientNorm: bound }));
    });
    if (Number.isFinite(gradientNorm)) return { isApplied: true, gradientNorm, criticGradientNorm: null };
    throw new PolicyError(
      'NOT_FINITE',
      `the gradient norm is ${gradientNorm}, and the server has made its step`,
    );
  }

  discard(): Promise<void> {
    this.accumulated = [];
    return Promise.resolve();
  }

  /** Rejects: gradients stay in the server. */
  takeGradients(): Promise<ReadonlyMap<string, Float32Array>> {
    const message = 'gradients stay in the server of engine "tinker"; compare updates on engine "tensorflow"';
    return Promise.reject(new TrainerError('ENGINE_REFUSED', message));
  }

  async saveWeights(into = this.checkpoints): Promise<FileRef> {
    return (await this.saveState(into)).weights;
  }

  get location(): string {
    return this.saved?.path ?? '';
  }

  async forget(location: string): Promise<void> {
    if (location.startsWith('tinker://')) await deleteCheckpoint(this.served.client, location);
  }

  /** Offers nothing: the weights are in the server, and reach samplers as files. */
  offerWeights(): void {
    return;
  }

  async save(into = this.checkpoints): Promise<EngineState> {
    const { path, weights } = await this.saveState(into);
    return { weights, optimizer: await into.write(this.heldAt(path)) };
  }

  nameWeights(): Promise<FileRef> {
    return this.exported((content) => nameContent(content));
  }

  /** Stores the state in the server all the same, since its name there is part of what is named. */
  async nameState(): Promise<EngineState> {
    const path = this.saved?.path ?? (await asked(() => this.model.saveState()));
    const weights = await this.nameWeights();
    this.saved = { path, weights };
    return { weights, optimizer: await nameContent([this.heldAt(path)]) };
  }

  async load(state: EngineState, from = this.checkpoints): Promise<void> {
    const { path, url } = await this.heldState(state.optimizer, from);
    await from.locate(state.weights);
    const { request } = this.served;
    const model = await asked(() => this.session.resumeTrained(request, path)).catch((error: unknown) => {
      throw isUnknown(error) ? lostState(path, url) : error;
    });
    await this.session.unload(this.model);
    this.model = model;
    this.accumulated = [];
    this.saved = { path, weights: state.weights };
  }

  /** Ends the session; what was saved stays in the server. */
  async close(): Promise<void> {
    await this.session.close();
    await this.served.client.close();
  }

  /** [N] */
  private async evaluateIn(
    modelOf: () => Promise<TrainingModel>,
    batch: SequenceBatch,
    { temperature, mask }: EvaluationOptions,
  ): Promise<Float32Array> {
    requirePlain(temperature);
    const microBatches = cutMicroBatches(batch, mask, this.served.recipe.optimizer.maxTokensPerMicroBatch);
    const evaluated = await asked(async () => requestLogprobs(await modelOf(), microBatches));
    const logprobs = new Float32Array(batch.tokenIds.length);
    microBatches.forEach(({ positions }, c) => {
      positions.forEach((n, m) => {
        logprobs[n] = evaluated[c][m];
      });
    });
    return logprobs;
  }

  /** Saves the current state in the server, unless that is done, and the weights as a file. */
  private async saveState(
    into: CheckpointFiles,
  ): Promise<{ readonly path: string; readonly weights: FileRef }> {
    const path = this.saved?.path ?? (await asked(() => this.model.saveState()));
    const weights = await this.exported((content) => into.write(content));
    this.saved = { path, weights };
    return this.saved;
  }

  /** The adapter as the content of a policy's file, which is there until `take` is done. */
  private async exported<T>(take: (content: Content) => Promise<T>): Promise<T> {
    const { client, config, base, tokenizerHash } = this.served;
    const directory = await mkdtemp(join(tmpdir(), 'retrace-adapter-'));
    try {
      const { weights } = await asked(async () => {
        const path = await this.model.saveForSampler();
        try {
          return await downloadAdapter(client, path, directory);
        } finally {
          await deleteCheckpoint(client, path);
        }
      });
      return await take(adapterCheckpointContent(weights, config, { tokenizerHash, base }));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  private heldAt(path: string): Uint8Array {
    return heldStateContent({ engine: 'tinker', url: this.served.client.url, path });
  }

  /** @throws TrainerError `ENGINE_REFUSED` for a state that is in its file, as of another engine */
  private async heldState(optimizer: FileRef, from: CheckpointFiles): Promise<HeldState> {
    const file = await from.open(optimizer);
    try {
      const held = readHeldState(file);
      if (held?.engine === 'tinker') return held;
      throw refused('weights and moments of another engine: a server takes none');
    } finally {
      await file.close();
    }
  }
}

function isUnknown(error: unknown): boolean {
  return (
    error instanceof TrainerError && (error.cause as TinkerError | undefined)?.code === 'CHECKPOINT_UNKNOWN'
  );
}

function lostState(path: string, url: string): TrainerError {
  const message =
    `the server at ${url} kept the state ${path}, and no longer has it, or another one is asked; ` +
    'restore it there, or start a run from the policy on another engine with --init-from';
  return new TrainerError('CHECKPOINT_LOST', message);
}

function requirePlain(temperature: number): void {
  if (temperature !== 1) throw refused(`log π at temperature ${temperature}, only at 1`);
}

function refused(what: string): TrainerError {
  return new TrainerError('ENGINE_REFUSED', `engine "tinker" does not have ${what}`);
}
