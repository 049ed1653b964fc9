import type { LossOptions } from '../losses/loss-options.js';
import { combineTerms, type LossTerms } from '../losses/loss-terms.js';
import type { TrainingBatch } from '../losses/training-batch.js';
import type { Transformer } from '../model/transformer.js';
import type { AppliedGradients, ApplyOptions, PolicyOptimizer } from '../optimizer/policy-optimizer.js';

import { shardBatch } from './shard-batch.js';
import { readTrainedWeights } from './trained-weights.js';

/** Makes optimizer steps: a `PolicyOptimizer`, or several of them, each on a share of the batch. */
export interface GradientStep {
  accumulate(batch: TrainingBatch, options: LossOptions): Promise<LossTerms>;
  apply(options: ApplyOptions): Promise<AppliedGradients>;
}

/** A share of a batch for one worker. */
export interface ShardJob {
  readonly batch: TrainingBatch;
  readonly options: LossOptions;
  /** [N] of the shard; see `PolicyOptimizer.selectTokens`. */
  readonly selected: Uint8Array | null;
}

export interface ShardGradient {
  readonly terms: LossTerms;
  /** `PolicyOptimizer.takeGradients` of this shard only. */
  readonly gradients: readonly Float32Array[];
}

/**
 * Computes gradients on replicas of the model: in other processes, on other devices.
 *
 * An implementer keeps nothing between calls: each call brings the weights. It returns one gradient for each job, in the
 * order of the jobs, with the same bits as `PolicyOptimizer` of this process; if it rejects, the step is not made.
 */
export interface GradientWorkers {
  compute(weights: readonly Float32Array[], jobs: readonly ShardJob[]): Promise<readonly ShardGradient[]>;
}

/**
 * Makes data-parallel steps: the batch is cut into `numShards` (`shardBatch`), each shard's gradient g_k is computed
 * separately, and AdamW steps once with g_0 + g_1 + … in this order. Loss weights are those of the whole batch, so the sum
 * is its gradient.
 *
 * Shard 0 is computed in this process, the others by the workers, or without workers here one after the other. Both give the
 * same bits, so an update of several processes can be replayed in one.
 */
export class ShardedOptimizer implements GradientStep {
  constructor(
    private readonly model: Transformer,
    private readonly optimizer: PolicyOptimizer,
    private readonly parallel: { readonly numShards: number; readonly workers: GradientWorkers | null },
  ) {}

  /** As `PolicyOptimizer.accumulate`; if the workers reject, it rejects with their error and nothing is accumulated. */
  async accumulate(batch: TrainingBatch, options: LossOptions): Promise<LossTerms> {
    const selected = await this.optimizer.selectTokens(batch, options);
    const [own, ...others] = shardBatch(batch, this.parallel.numShards).map((shard) => ({
      batch: shard.batch,
      options,
      selected: selected?.slice(shard.start, shard.end) ?? null,
    }));
    // Nothing is trained on an empty batch, which has no shard.
    if (own === undefined) return this.optimizer.accumulate(batch, options);
    const { workers } = this.parallel;
    if (workers === null) {
      const gradients: ShardGradient[] = [];
      for (const job of others) gradients.push(await this.computeHere(job));
      return this.add(await this.accumulateOwn(own), gradients);
    }
    const computed = others.length === 0 ? [] : workers.compute(await readTrainedWeights(this.model), others);
    const [mine, theirs] = await Promise.allSettled([this.accumulateOwn(own), computed]);
    if (mine.status === 'rejected') throw mine.reason;
    if (theirs.status === 'rejected') {
      this.optimizer.clearGradients();
      throw theirs.reason;
    }
    return this.add(mine.value, theirs.value);
  }

  apply(options: ApplyOptions): Promise<AppliedGradients> {
    return this.optimizer.apply(options);
  }

  private accumulateOwn({ batch, options, selected }: ShardJob): Promise<LossTerms> {
    return this.optimizer.accumulate(batch, options, selected);
  }

  private async computeHere(job: ShardJob): Promise<ShardGradient> {
    const terms = await this.accumulateOwn(job);
    return { terms, gradients: await this.optimizer.takeGradients() };
  }

  private add(terms: LossTerms, others: readonly ShardGradient[]): LossTerms {
    for (const { gradients } of others) this.optimizer.addGradients(gradients);
    return combineTerms([terms, ...others.map((other) => other.terms)]);
  }
}
