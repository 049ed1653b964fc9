import * as tf from '@tensorflow/tfjs-core';
import { hiddenAtReads, toDevice } from '../model/forward.js';
import type { Transformer } from '../model/transformer.js';
import { linear } from '../ops/linear.js';
import { requireTokenIds } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import { hiddenAtLast } from './cached-forward.js';
import { chunkOf, freshPack, groupChunks, newTokens } from './chunk.js';
import type { Chunk } from './chunk.js';
import { KeyValueCache } from './key-value-cache.js';
import { sampleTokens } from './sampling.js';
import { Slot } from './slot.js';
import type { FinishedTurn, TurnRequest } from './turn.js';
import { uniformAt } from './uniform.js';

export interface GeneratorOptions {
  readonly maxSlots: number;
  /** Longest context of a slot, sampled tokens included. */
  readonly maxTokens: number;
  /** Most tokens one turn may ask for. */
  readonly maxNewTokens: number;
}

/** Most cells of one forward pass; a longer context gets a pass of its own. */
const maxCells = 8192;

/** Multiply-adds that take about as long as starting one more forward pass. */
const passMultiplyAdds = 1e8;

/**
 * Continuous batching: each `step` advances every live turn by one token, whatever it still has to compute for
 * that: the prompt of a new turn, one token, or a whole context whose cache a weight swap has made worthless.
 *
 * A turn's tokens depend on its context, its request and the weights, not on which turns run beside it (but for
 * rounding). The generator doesn't own the model.
 */
export class Generator {
  private readonly slots: readonly Slot[];
  private readonly cache: KeyValueCache;
  private policyVersion = 0;

  constructor(
    private readonly model: Transformer,
    private readonly options: GeneratorOptions,
  ) {
    validateGeneratorOptions(options, model.config.maxPositions);
    this.slots = Array.from({ length: options.maxSlots }, () => new Slot(options.maxTokens));
    this.cache = new KeyValueCache(model.config, options.maxSlots, options.maxTokens);
  }

  /** Turns that were added and have not finished. */
  get numPending(): number {
    return this.slots.reduce((count, slot) => count + (slot.turn === null ? 0 : 1), 0);
  }

  /** Throws `PolicyError` (`INVALID_REQUEST`, `INVALID_BATCH`), with the slot as it was. */
  add(request: TurnRequest): void {
    this.validate(request);
    this.slots[request.slot].begin(request);
  }

  /**
   * Samples one token for every live turn; returns the turns that thereby finished. One readback.
   * Throws `PolicyError` (`NOT_FINITE`) when the weights give no distribution.
   */
  async step(): Promise<readonly FinishedTurn[]> {
    const chunks: Chunk[] = [];
    this.slots.forEach((slot, index) => {
      if (slot.turn !== null) chunks.push(chunkOf(index, slot, slot.turn));
    });
    if (chunks.length === 0) return [];
    const { policyVersion } = this;
    const grouping = { maxCells, passCost: passMultiplyAdds / this.model.numParameters };
    const fresh = groupChunks(
      chunks.filter((chunk) => chunk.turn.isSingleShot),
      grouping,
    );
    const cached = groupChunks(
      chunks.filter((chunk) => !chunk.turn.isSingleShot),
      grouping,
    );
    const sampled = tf.tidy(() =>
      tf.concat(
        [
          ...fresh.map((group) =>
            this.sample(group, hiddenAtReads(this.model, toDevice(this.model, freshPack(group)))),
          ),
          ...cached.map((group) =>
            this.sample(group, hiddenAtLast(this.model, this.cache, newTokens(group))),
          ),
        ],
        1,
      ),
    );
    for (const { slot } of cached.flat()) slot.markCached();
    const columns = await sampled.data();
    sampled.dispose();
    return this.finish([...fresh.flat(), ...cached.flat()], columns, policyVersion);
  }

  /**
   * Call after the model's weights have changed, between steps. What is cached was computed by the former weights,
   * so live contexts are computed again from their tokens when they are next needed.
   */
  setPolicyVersion(policyVersion: number): void {
    this.policyVersion = policyVersion;
    for (const slot of this.slots) slot.forgetCache();
  }

  /** Empties a slot: its context is dropped, and its turn, if it has one, is never finished. */
  release(slot: number): void {
    this.requireSlot(slot);
    this.slots[slot].clear();
  }

  dispose(): void {
    this.cache.dispose();
  }

  /** [4, B] of `sampleTokens` for the hidden states of a group. */
  private sample(group: readonly Chunk[], hidden: tf.Tensor): tf.Tensor {
    const requests = group.map((chunk) => chunk.turn.request);
    return sampleTokens(linear(hidden, this.model.lmHead, null), {
      temperatures: Float32Array.from(requests, (request) => request.temperature),
      greedy: Uint8Array.from(requests, (request) => (request.greedy ? 1 : 0)),
      uniforms: Float32Array.from(group, ({ slot, turn }) =>
        uniformAt(turn.request.samplingSeed, slot.length),
      ),
    });
  }

  private finish(
    chunks: readonly Chunk[],
    columns: ArrayLike<number>,
    policyVersion: number,
  ): FinishedTurn[] {
    const finished: FinishedTurn[] = [];
    chunks.forEach(({ slot, turn, index }, n) => {
      if (slot.turn !== turn) return;
      const [tokenId, logprob, rawLogprob, entropy] = [0, 1, 2, 3].map(
        (row) => columns[row * chunks.length + n],
      );
      if (!Number.isFinite(logprob)) {
        throw new PolicyError(
          'NOT_FINITE',
          `slot ${index} got a token of logprob ${logprob}; the weights are unusable`,
        );
      }
      const done = slot.append(turn, { tokenId, logprob, rawLogprob, entropy }, policyVersion);
      if (done !== null) finished.push(done);
    });
    return finished;
  }

  private validate(request: TurnRequest): void {
    const { slot, keptPrefixTokens, tokenIds, temperature, maxNewTokens, samplingSeed } = request;
    const { maxTokens } = this.options;
    this.requireSlot(slot);
    const { length, turn } = this.slots[slot];
    const numPromptTokens = keptPrefixTokens + tokenIds.length;
    check(turn === null, `slot ${slot} still runs a turn; step until it finishes, or release the slot`);
    check(
      Number.isInteger(keptPrefixTokens) && keptPrefixTokens >= 0 && keptPrefixTokens <= length,
      `keptPrefixTokens is ${keptPrefixTokens}; the context of slot ${slot} has ${length} tokens`,
    );
    check(numPromptTokens > 0, `the turn for slot ${slot} has no prompt; it needs at least one token`);
    check(
      Number.isInteger(maxNewTokens) && maxNewTokens > 0 && maxNewTokens <= this.options.maxNewTokens,
      `maxNewTokens is ${maxNewTokens}; it must be 1 … ${this.options.maxNewTokens}`,
    );
    check(
      numPromptTokens + maxNewTokens <= maxTokens,
      `the turn for slot ${slot} may reach ${numPromptTokens + maxNewTokens} tokens; a context has at most ${maxTokens}`,
    );
    check(
      temperature > 0 && Number.isFinite(temperature),
      `temperature is ${temperature}; it must be a positive number`,
    );
    check(Number.isSafeInteger(samplingSeed), `samplingSeed is ${samplingSeed}; it must be a safe integer`);
    requireTokenIds(tokenIds, this.model.config.vocabSize);
  }

  private requireSlot(slot: number): void {
    check(slot in this.slots, `slot is ${slot}; slots are 0 … ${this.slots.length - 1}`);
  }
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new PolicyError('INVALID_REQUEST', message);
}

function validateGeneratorOptions(
  { maxSlots, maxTokens, maxNewTokens }: GeneratorOptions,
  maxPositions: number,
): void {
  const rules: [string, number, number][] = [
    ['maxSlots', maxSlots, Number.MAX_SAFE_INTEGER],
    ['maxTokens', maxTokens, maxPositions],
    ['maxNewTokens', maxNewTokens, maxTokens],
  ];
  for (const [name, value, limit] of rules) {
    if (Number.isInteger(value) && value > 0 && value <= limit) continue;
    throw new PolicyError(
      'INVALID_CONFIG',
      `generator option ${name} is ${value}; it must be an integer of 1 … ${limit}`,
    );
  }
}
