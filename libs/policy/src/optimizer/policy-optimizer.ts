import * as tf from '@retrace/compute/tensorflow';
import { getPolicyLoss } from '@retrace/algorithms';
import { readsSynchronously, squaredNorm } from '@retrace/compute';
import type { SafetensorsFile } from '../checkpoints/safetensors-file.js';
import { chunkedLoss } from '../losses/chunked-loss.js';
import { evaluateLoss, selectBatchTokens } from '../losses/evaluate-loss.js';
import type { TokenColumns, TrainedTokens } from '../losses/evaluate-loss.js';
import { lossNode } from '../losses/loss-node.js';
import { combineSums } from '../losses/loss-terms.js';
import type { LossSums, LossTerms } from '../losses/loss-terms.js';
import { validateLossOptions } from '../losses/loss-options.js';
import type { LossOptions, TrainedPart } from '../losses/loss-options.js';
import { chosenIdsAt } from '../logprobs/teacher-top.js';
import { newTokenFigures, type TokenFigures } from '../losses/token-figures.js';
import { validateTrainingBatch } from '../losses/training-batch.js';
import type { TrainingBatch } from '../losses/training-batch.js';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import { isOfCritic } from '../model/parameter-layout.js';
import type { Transformer } from '../model/transformer.js';
import { inTurns } from '../packing/in-turns.js';
import { predictingPositions } from '../packing/read-mask.js';
import { packSequences } from '../packing/sequence-pack.js';
import type { SequencePack } from '../packing/sequence-pack.js';
import { PolicyError } from '../policy-error.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { tokenDistribution } from '../logprobs/token-distribution.js';
import { computeValues } from '../logprobs/value-head.js';
import { AdamW } from './adamw.js';
import type { AdamWOptions } from './adamw.js';
import type { MomentPlace } from './moment-vectors.js';
import { makeBuckets, bucketSize, flatten, namedParts } from './buckets.js';
import type { Bucket } from './buckets.js';
import type { WeightAverage } from './weight-average.js';

export interface ApplyOptions {
  readonly learningRate: number;
  /** Learning rate of the critic, for an optimizer that keeps it apart (default: as the others). */
  readonly criticLearningRate?: number;
  /** Weights that the step moves; the others stay, with their moments. A part needs a critic that is kept apart (default `all`). */
  readonly trains?: TrainedPart;
  /** Gradients are scaled down to this global L2 norm; those of a critic that is kept apart to the same one by themselves. */
  readonly maxGradientNorm: number;
  /**
   * A step with a norm above this, or with one that is not finite, is not made: its gradients are dropped, weights and moments stay (default:
   * every finite norm is applied, and another is an error).
   */
  readonly skipNormAbove?: number;
}

/** Norms before they are scaled down. */
export interface AppliedGradients {
  /** Whether the step was made. */
  readonly isApplied: boolean;
  /** Of all gradients, or without those of a critic that is kept apart. */
  readonly gradientNorm: number;
  /** null where the critic is not kept apart. */
  readonly criticGradientNorm: number | null;
}

interface PackOptions {
  readonly options: LossOptions;
  /** [N] from `selectTokens`. */
  readonly selected: Uint8Array | null;
  /** [N] the model's outputs for the trained tokens, if the backend can't be read during the gradient pass; else null. */
  readonly foreseen: TokenColumns | null;
  readonly figures: TokenFigures | null;
}

export interface PolicyOptimizerOptions {
  readonly separateCritic?: boolean;
  /** Where the moments are between steps (default `device`). */
  readonly momentPlace?: MomentPlace;
}

/**
 * Accumulates gradients over micro-batches, and applies them in one AdamW step.
 *
 * The optimizer owns its moments and the accumulated gradients; only `apply` replaces the model's weights.
 *
 * With `separateCritic` the value head and the critic's own trunk have a learning rate and a clipped norm of their own, as if they had an
 * optimizer of their own: both losses reach other weights, so their sum has the gradients of each.
 */
export class PolicyOptimizer {
  private readonly buckets: readonly Bucket[];
  private readonly adamW: AdamW;
  private readonly separateCritic: boolean;
  /** One vector per bucket; null when nothing is accumulated. */
  private gradients: readonly tf.Tensor[] | null = null;

  constructor(
    private readonly model: Transformer,
    options: AdamWOptions,
    { separateCritic = false, momentPlace = 'device' }: PolicyOptimizerOptions = {},
  ) {
    const isCritic = (key: string) => separateCritic && isOfCritic(key);
    this.buckets = makeBuckets(model.trainableSpecs, isCritic);
    this.separateCritic = separateCritic;
    this.adamW = new AdamW(this.buckets, options, momentPlace);
  }

  /**
   * Adds the gradient of the batch's loss to the accumulated gradients, in forward and backward passes of at most
   * `maxTokensPerMicroBatch` tokens; apart from rounding, loss and gradient don't depend on that number.
   * A batch without a trained token adds nothing.
   *
   * @param selected [N] of this part of a larger batch, from `selectTokens` of the whole; absent: the batch is whole
   * @throws PolicyError `INVALID_BATCH`, `INVALID_CONFIG` before anything is computed; `NOT_FINITE`, with all accumulated gradients dropped, when the weights give no finite logprobs or values
   */
  async accumulate(
    batch: TrainingBatch,
    options: LossOptions,
    selected?: Uint8Array | null,
  ): Promise<LossTerms> {
    validateLossOptions(options);
    validateTrainingBatch(batch, options, this.model.config);
    if (options.valueCoefficient !== 0 && !this.model.config.valueHead) {
      throw new PolicyError(
        'INVALID_CONFIG',
        `valueCoefficient is ${options.valueCoefficient}; the model has no value head, so it must be 0`,
      );
    }
    const readMask = predictingPositions(batch, (n) => batch.lossWeights[n] !== 0);
    const packs = packSequences(batch, { readMask, maxTokens: options.maxTokensPerMicroBatch });
    try {
      const chosen = selected === undefined ? await this.selectTokens(batch, options) : selected;
      const foreseen = readsSynchronously() ? null : await this.evaluateTrainedTokens(batch, options);
      const figures = options.recordsTokens === true ? newTokenFigures(batch.tokenIds.length) : null;
      const parts = { options, selected: chosen, foreseen, figures };
      const sums: LossSums[] = [];
      for await (const pack of inTurns(packs)) sums.push(...this.accumulatePack(pack, batch, parts));
      const terms = combineSums(sums);
      return figures === null ? terms : { ...terms, figures };
    } catch (error) {
      this.clearGradients();
      throw error;
    }
  }

  /**
   * Makes one AdamW step with the accumulated gradients and clears them; does nothing when nothing is accumulated.
   *
   * @throws PolicyError `NOT_FINITE`, with the gradients dropped and the weights untouched, when their norm isn't finite and there is no `skipNormAbove`
   */
  async apply(options: ApplyOptions): Promise<AppliedGradients> {
    const { gradients, buckets, separateCritic } = this;
    const { learningRate, criticLearningRate = learningRate, maxGradientNorm, skipNormAbove } = options;
    const { trains = 'all' } = options;
    if (gradients === null)
      return { isApplied: true, gradientNorm: 0, criticGradientNorm: separateCritic ? 0 : null };
    try {
      const norm = (wanted: boolean) =>
        computeNorm(gradients.filter((_, b) => buckets[b].isOfSeparateCritic === wanted));
      const gradientNorm = await norm(false);
      const criticGradientNorm = separateCritic ? await norm(true) : null;
      if (skipNormAbove === undefined) requireFinite(gradientNorm, criticGradientNorm ?? 0);
      else if (!(Math.max(gradientNorm, criticGradientNorm ?? 0) <= skipNormAbove))
        return { isApplied: false, gradientNorm, criticGradientNorm };
      const scaleOf = (norm: number) => (norm > maxGradientNorm ? maxGradientNorm / norm : 1);
      const ofPolicy = { learningRate, gradientScale: scaleOf(gradientNorm) };
      const ofCritic = { learningRate: criticLearningRate, gradientScale: scaleOf(criticGradientNorm ?? 0) };
      await this.adamW.step(this.model.parameters, gradients, ({ isOfSeparateCritic }) => {
        if (isOfSeparateCritic) return trains === 'policy' ? null : ofCritic;
        return trains === 'critic' ? null : ofPolicy;
      });
      return { isApplied: true, gradientNorm, criticGradientNorm };
    } finally {
      this.clearGradients();
    }
  }

  /** Drops the accumulated gradients. */
  clearGradients(): void {
    tf.dispose([...(this.gradients ?? [])]);
    this.gradients = null;
  }

  /** Returns and clears the accumulated gradients: one vector for each bucket, with the same lengths for equal models; none if nothing is accumulated. */
  async takeGradients(): Promise<readonly Float32Array[]> {
    try {
      return (await Promise.all((this.gradients ?? []).map((vector) => vector.data()))) as Float32Array[];
    } finally {
      this.clearGradients();
    }
  }

  /** Returns and clears the accumulated gradients by the key of their parameter, each flat; none if nothing is accumulated. */
  async takeNamedGradients(): Promise<Map<string, Float32Array>> {
    const vectors = await this.takeGradients();
    return new Map(vectors.flatMap((vector, b) => [...namedParts(this.buckets[b], vector)]));
  }

  /**
   * Adds vectors from `takeGradients`, possibly of another optimizer of an equal model, and takes ownership of them.
   *
   * @throws PolicyError `TENSOR_MISMATCH` when they are of another model
   */
  addGradients(vectors: readonly Float32Array[]): void {
    if (vectors.length === 0) return;
    const sizes = this.buckets.map(bucketSize);
    if (vectors.map(({ length }) => length).join() !== sizes.join()) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `gradients have ${vectors.map(({ length }) => length).join(', ')} values; the model's buckets have ${sizes.join(', ')}`,
      );
    }
    const accumulated = this.gradients;
    const sums = tf.tidy(() =>
      vectors.map((vector, b) => {
        const gradient = tf.tensor1d(vector);
        return tf.keep(accumulated === null ? gradient : tf.add(accumulated[b], gradient));
      }),
    );
    this.clearGradients();
    this.gradients = sums;
  }

  /**
   * Encodes the optimizer's state for `CheckpointFiles.write`, as a safetensors file in pieces.
   *
   * @param average of the model's weights, stored with it (`WeightAverage.read` finds it again)
   */
  stateContent(average: WeightAverage | null = null): AsyncGenerator<Uint8Array> {
    return this.adamW.encode(average);
  }

  /**
   * Replaces the optimizer's state with that of a file from `stateContent`.
   *
   * @throws PolicyError `TENSOR_MISMATCH`, with the state unchanged
   */
  loadState(file: SafetensorsFile): Promise<void> {
    const { step, criticStep = step } = file.header.metadata;
    return this.adamW.load(file, { policy: Number(step), critic: Number(criticStep) });
  }

  dispose(): void {
    this.clearGradients();
    this.adamW.dispose();
  }

  /** Finds with a forward pass the tokens that a loss which ranks the whole batch keeps: [N] 1 for those; null for other losses. */
  async selectTokens(batch: TrainingBatch, options: LossOptions): Promise<Uint8Array | null> {
    if (getPolicyLoss(options.policyLoss).scope !== 'batch') return null;
    const { logprobs } = await this.evaluateTrainedTokens(batch, { ...options, distillation: null });
    return selectBatchTokens(logprobs, batch, options);
  }

  private evaluateTrainedTokens(
    batch: TrainingBatch,
    { temperature, maxTokensPerMicroBatch, distillation }: LossOptions,
  ): Promise<TokenColumns> {
    return evaluateLogprobs(this.model, batch, {
      temperature,
      maxTokensPerMicroBatch,
      teacherTop: distillation ? (batch.teacherTop ?? null) : null,
      actionMask: Uint8Array.from(batch.lossWeights, (weight) => Number(weight !== 0)),
    });
  }

  private accumulatePack(
    pack: SequencePack,
    batch: TrainingBatch,
    { options, selected, foreseen, figures }: PackOptions,
  ): LossSums[] {
    const usesValues = options.valueCoefficient !== 0;
    const { trains = 'all' } = options;
    const keys = this.model.trainableSpecs
      .map((spec) => spec.key)
      .filter((key) => (isOfCritic(key) ? usesValues && trains !== 'policy' : trains !== 'critic'));
    const positions = pack.readPositions.map((position) => position + 1);
    const targets = positions.map((position) => batch.tokenIds[position]);
    const chosen = options.distillation && batch.teacherTop ? chosenIdsAt(batch.teacherTop, positions) : null;
    const known = foreseen && {
      logprobs: columnAt(foreseen.logprobs, positions),
      entropies: columnAt(foreseen.entropies, positions),
      values: usesValues && foreseen.values !== null ? columnAt(foreseen.values, positions) : null,
      topLogprobs: foreseen.topLogprobs
        ? rowsAt(foreseen.topLogprobs, positions, chosen?.numPerRow ?? 0)
        : null,
    };
    const evaluated: LossSums[] = [];
    const evaluate = (outputs: TokenColumns, trained: TrainedTokens) => {
      const result = evaluateLoss(outputs, batch, { ...trained, selected, figures }, options);
      evaluated.push(result.sums);
      return result;
    };
    tf.tidy(() => {
      const devicePack = toDevice(this.model, pack);
      const loss = () => {
        const hidden = hiddenAtReads(this.model, devicePack, options);
        const values = usesValues ? computeValues(this.model, devicePack, hidden, options) : null;
        const head = this.model.lmHead;
        if (getPolicyLoss(options.policyLoss).scope !== 'sequence') {
          return chunkedLoss({ hidden, head, values, targets, chosen, known }, options, (outputs, from, to) =>
            evaluate(outputs, {
              positions: positions.subarray(from, to),
              offsets: Int32Array.of(0, to - from),
            }),
          );
        }
        const distribution = tokenDistribution(hidden, head, targets, {
          temperature: options.temperature,
          chosen,
        });
        return lossNode({ distribution, values, known }, (outputs) =>
          evaluate(outputs, { positions, offsets: pack.readOffsets }),
        );
      };
      const { grads } = tf.valueAndGrads(loss)(keys.map((key) => this.model.parameters.get(key)));
      this.accumulateGradients(new Map(keys.map((key, i) => [key, grads[i]])));
    });
    return evaluated;
  }

  private accumulateGradients(gradientOf: ReadonlyMap<string, tf.Tensor>): void {
    const accumulated = this.gradients;
    const sums = this.buckets.map((bucket, b) => {
      const gradient = flatten(bucket, (key) => gradientOf.get(key));
      return tf.keep(accumulated === null ? gradient : tf.add(accumulated[b], gradient));
    });
    this.clearGradients();
    this.gradients = sums;
  }
}

function columnAt(column: Float32Array, positions: Int32Array): Float32Array {
  return Float32Array.from(positions, (position) => column[position]);
}

/** @param rows [N·k] */
function rowsAt(rows: Float32Array, positions: Int32Array, k: number): Float32Array {
  const found = new Float32Array(positions.length * k);
  positions.forEach((n, m) => found.set(rows.subarray(n * k, (n + 1) * k), m * k));
  return found;
}

async function computeNorm(vectors: readonly tf.Tensor[]): Promise<number> {
  if (vectors.length === 0) return 0;
  const squares = tf.tidy(() => tf.addN(vectors.map(squaredNorm)));
  const [sum] = await squares.data();
  squares.dispose();
  return Math.sqrt(sum);
}

/** @throws PolicyError `NOT_FINITE` */
function requireFinite(...norms: readonly number[]): void {
  for (const norm of norms) {
    if (!Number.isFinite(norm))
      throw new PolicyError('NOT_FINITE', `the gradient norm is ${norm}; the weights were not changed`);
  }
}
