import * as tf from '@retrace/compute/tensorflow';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '@retrace/compute';
import { PolicyError } from '../policy-error.js';
import { logitsAtLast } from './cached-forward.js';
import { chunkFrom, chunkEnd, freshPack, groupEqual, reachesEnd, splitByTokens } from './chunk.js';
import type { Chunk, LiveContext } from './chunk.js';
import { requireRequest, requireSlot, validateGeneratorOptions } from './generator-options.js';
import type { GeneratorOptions } from './generator-options.js';
import { KeyValueCache } from './key-value-cache.js';
import { newTokens } from './new-tokens.js';
import { planPasses } from './plan-passes.js';
import { LikeliestTokens } from './likeliest-tokens.js';
import { sampleTokens, type BatchSampling } from './sampling.js';
import { Slot } from './slot.js';
import type { FinishedTurn, LikelyToken, LiveTurn, TurnColumns, TurnRequest } from './turn.js';
import { uniformAt } from './uniform.js';

/** Most tokens of one forward pass without a cache; a longer context gets its own pass. */
export const MAX_FRESH_TOKENS = 8192;

/** Default of `maxTokensPerStep`. */
export const DEFAULT_TOKENS_PER_STEP = 2048;

/** Sample i is drawn for chunk i from row `rows[i]` of the logits. */
interface SampleGroup {
  readonly chunks: readonly Chunk[];
  readonly rows: readonly number[];
  readonly logits: tf.Tensor;
}

/** One sampled token for each chunk. */
interface SampledColumns {
  /** [4, B] of `sampleTokens`. */
  readonly columns: ArrayLike<number>;
  readonly likeliest: readonly (readonly LikelyToken[])[];
  readonly policyVersion: number;
}

/**
 * Generates with continuous batching: each `step` gives every live turn one token, whether it has to compute the prompt of a new turn, one token, or
 * a whole context that was cached under other weights. Prompts are computed in chunks of `maxTokensPerStep`, so long ones don't hold up other turns;
 * a beginning that contexts share is computed once.
 *
 * A turn's tokens depend on its context, its request and the weights, not on the turns beside it (except for rounding). The generator doesn't own the
 * model.
 */
export class Generator {
  private readonly slots: readonly Slot[];
  private readonly cache: KeyValueCache;
  /** Slots with a live turn, in the order of their turns' arrival. */
  private readonly live = new Set<number>();
  private policyVersion = 0;

  constructor(
    private readonly model: Transformer,
    private readonly options: GeneratorOptions,
  ) {
    validateGeneratorOptions(options, model.config.maxPositions);
    this.slots = Array.from(
      { length: options.maxSlots },
      () => new Slot(options.maxTokens, options.decode ?? null),
    );
    this.cache = new KeyValueCache(model.config, options.maxSlots, options.maxTokens);
  }

  /** How many turns were added and have not finished. */
  get numPending(): number {
    return this.live.size;
  }

  /** @throws PolicyError `INVALID_REQUEST`, `INVALID_BATCH`, with the slot unchanged */
  add(request: TurnRequest): void {
    requireSlot(request.slot, this.slots);
    requireRequest(request, this.slots[request.slot], this.options, this.model.config.vocabSize);
    this.slots[request.slot].begin(request);
    this.live.add(request.slot);
  }

  /**
   * Samples one token for every live turn whose prompt is computed, and returns the turns that finished. One readback.
   *
   * @throws PolicyError `NOT_FINITE` when the weights give no distribution
   */
  async step(): Promise<readonly FinishedTurn[]> {
    const live = Array.from(this.live, (slot): LiveContext => {
      const context = this.slots[slot];
      return { slot, context, turn: context.turn as LiveTurn };
    });
    const { policyVersion } = this;
    const sampledChunks: Chunk[] = [];
    const likeliest = new LikeliestTokens(this.options.likeliestAfterTemperature ?? false);
    const samples = tf.tidy(() =>
      this.compute(live).map((group) => {
        sampledChunks.push(...group.chunks);
        const parameters = makeBatchSampling(group);
        likeliest.add(
          group.logits,
          parameters,
          group.chunks.map(({ turn }) => turn.request.numLikeliest ?? 0),
        );
        return sampleTokens(group.logits, parameters);
      }),
    );
    if (samples.length === 0) return [];
    const joined = samples.length === 1 ? samples[0] : tf.concat(samples, 1);
    const columns = await joined.data();
    tf.dispose([joined, ...samples]);
    return this.finish(sampledChunks, { columns, likeliest: await likeliest.read(), policyVersion });
  }

  /** The tokens that the live turn of a slot has sampled so far, as views; null without a live turn. */
  sampledBy(slot: number): TurnColumns | null {
    requireSlot(slot, this.slots);
    return this.slots[slot].turn?.sampled ?? null;
  }

  /**
   * Sets the version of the model's weights; call it between steps, after the weights have changed. The cache belongs to
   * the previous weights, so live contexts are computed again from their tokens when they are next needed.
   */
  setPolicyVersion(policyVersion: number): void {
    this.policyVersion = policyVersion;
    for (const slot of this.slots) slot.forgetCache();
  }

  /** Empties a slot: its context and its turn, if it has one, are dropped. */
  release(slot: number): void {
    requireSlot(slot, this.slots);
    this.slots[slot].clear();
    this.live.delete(slot);
  }

  dispose(): void {
    this.cache.dispose();
  }

  private compute(live: readonly LiveContext[]): SampleGroup[] {
    const fresh = live.filter(({ turn }) => turn.isSingleShot);
    const cached = live.filter(({ turn }) => !turn.isSingleShot);
    return [...this.computeFresh(fresh), ...this.computeCached(cached)];
  }

  /** Computes whole contexts, none of which is needed again, so the cache is not used. */
  private computeFresh(live: readonly LiveContext[]): SampleGroup[] {
    const groups = groupEqual(live.map((member) => chunkFrom(member, 0, member.context.length)));
    const batches = splitByTokens(groups, ([{ tokenIds }]) => tokenIds.length, MAX_FRESH_TOKENS);
    return batches.map((batch) => {
      // The activations of one pass are freed before the next, so that the limit of a pass limits memory.
      const logits = tf.tidy(() => {
        const pack = toDevice(this.model, freshPack(batch.map(([chunk]) => chunk)));
        return linear(hiddenAtReads(this.model, pack), this.model.lmHead, null);
      });
      return {
        chunks: batch.flat(),
        rows: batch.flatMap((group, row) => group.map(() => row)),
        logits,
      };
    });
  }

  private computeCached(live: readonly LiveContext[]): SampleGroup[] {
    if (live.length === 0) return [];
    const { maxSlots, maxTokensPerStep = Math.max(DEFAULT_TOKENS_PER_STEP, maxSlots) } = this.options;
    const { copies, chunks, laterCopies, laterChunks } = planPasses(live, this.slots, maxTokensPerStep);
    this.cache.copyPrefixes(copies);
    const groups = this.pass(chunks);
    this.cache.copyPrefixes(laterCopies);
    return [...groups, ...this.pass(laterChunks)];
  }

  private pass(chunks: readonly Chunk[]): SampleGroup[] {
    if (chunks.length === 0) return [];
    const logits = logitsAtLast(this.model, this.cache, newTokens(chunks));
    for (const chunk of chunks) chunk.context.markCached(chunkEnd(chunk));
    const rows = [...chunks.keys()].filter((row) => reachesEnd(chunks[row]));
    return rows.length === 0 ? [] : [{ chunks: rows.map((row) => chunks[row]), rows, logits }];
  }

  private finish(
    chunks: readonly Chunk[],
    { columns, likeliest, policyVersion }: SampledColumns,
  ): FinishedTurn[] {
    const finished: FinishedTurn[] = [];
    chunks.forEach(({ context, turn, slot }, n) => {
      if (context.turn !== turn) return;
      const column = (row: number) => columns[row * chunks.length + n];
      const [tokenId, logprob, rawLogprob, entropy] = [column(0), column(1), column(2), column(3)];
      if (!Number.isFinite(logprob)) {
        throw new PolicyError(
          'NOT_FINITE',
          `slot ${slot} got a token of logprob ${logprob}; the weights are unusable`,
        );
      }
      const token = { tokenId, logprob, rawLogprob, entropy, likeliest: likeliest[n] ?? [] };
      const done = context.append(turn, token, policyVersion);
      if (done === null) return;
      this.live.delete(slot);
      finished.push(done);
    });
    return finished;
  }
}

function makeBatchSampling({ chunks, rows }: SampleGroup): BatchSampling {
  const requests = chunks.map((chunk) => chunk.turn.request);
  return {
    rows: Int32Array.from(rows),
    temperatures: Float32Array.from(requests, ({ temperature }) => temperature),
    topK: Int32Array.from(requests, ({ topK = 0 }) => topK),
    topP: Float32Array.from(requests, ({ topP = 1 }) => topP),
    greedy: Uint8Array.from(requests, ({ greedy }) => (greedy ? 1 : 0)),
    uniforms: Float32Array.from(chunks, ({ context, turn }) =>
      uniformAt(turn.request.samplingSeed, context.length),
    ),
  };
}
