import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { Transformer } from '../model/transformer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { onEachBackend } from '@retrace/compute/testing';
import { seededRandom } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { makeBatch, expectClose, finishAll, request } from '../testing/turns.js';
import { Generator } from './generator.js';
import type { TurnRequest } from './turn.js';

const options = { maxSlots: 5, maxTokens: 48, maxNewTokens: 6 };

/** Largest error that training accepts in stored logprobs. */
const RATIO_TOLERANCE = 1e-4;

/** An episode as a collector would record it. */
interface Recorded {
  readonly tokenIds: number[];
  /** Behavior logprobs; NaN where the token was not sampled. */
  readonly logprobs: number[];
  readonly rawLogprobs: number[];
  readonly entropies: number[];
}

await onEachBackend('Generator', () => {
  it('samples with the logprobs and entropies that scoring computes, over turns, lengths and slots', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const episodes = await playTurns(generator, { numTurns: 4, temperature: 0.7 });
    await expectScored(model, episodes, 0.7);
    dispose(generator, model);
  });

  it('does so for single tokens after fresh prompts, which take the path without a cache', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const episodes = await playTurns(generator, { numTurns: 1, temperature: 1.3, maxNewTokens: 1 });
    await expectScored(model, episodes, 1.3);
    dispose(generator, model);
  });

  it('continues a context whose first turn took the path without a cache', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const episodes = await playTurns(generator, { numTurns: 5, temperature: 1, maxNewTokens: 1 });
    await expectScored(model, episodes, 1);
    dispose(generator, model);
  });

  it('recomputes live contexts after a weight swap, and versions each token', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const other = Transformer.initialize(TINY_CONFIG, 2);
    const generator = new Generator(model, options);
    generator.setPolicyVersion(7);
    const prompt = Int32Array.of(3, 4, 5, 6);
    generator.add(request({ slot: 2, tokenIds: prompt, maxNewTokens: 6 }));
    await generator.step();
    await generator.step();
    const former = model.clone();
    model.assignTensors(await other.exportTensors());
    generator.setPolicyVersion(8);
    const turn = (await finishAll(generator))[0];
    expect([...turn.policyVersions]).toEqual([7, 7, 8, 8, 8, 8]);
    const batch = makeBatch([[...prompt, ...turn.tokenIds]]);
    const byFormer = await evaluateLogprobs(former, batch, { temperature: 1, maxTokensPerMicroBatch: 64 });
    const byOther = await evaluateLogprobs(other, batch, { temperature: 1, maxTokensPerMicroBatch: 64 });
    const expected = [...byFormer.logprobs.subarray(4, 6), ...byOther.logprobs.subarray(6)];
    expectClose(turn.logprobs, expected, RATIO_TOLERANCE);
    dispose(generator, model, other, former);
  });

  it('keeps a prefix and drops what followed it', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const first = Int32Array.of(3, 4, 5, 6, 7);
    generator.add(request({ slot: 0, tokenIds: first, maxNewTokens: 3 }));
    await finishAll(generator);
    const second = Int32Array.of(9, 10);
    generator.add(request({ slot: 0, keptPrefixTokens: 3, tokenIds: second, maxNewTokens: 2 }));
    const [turn] = await finishAll(generator);
    const tokenIds = [3, 4, 5, 9, 10, ...turn.tokenIds];
    const { logprobs } = await evaluateLogprobs(model, makeBatch([tokenIds]), {
      temperature: 1,
      maxTokensPerMicroBatch: 64,
    });
    expectClose(turn.logprobs, [...logprobs.subarray(5)], RATIO_TOLERANCE);
    dispose(generator, model);
  });

  it('samples the same tokens whichever turns run beside it', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const alone = new Generator(model, options);
    const subject = request({ slot: 1, tokenIds: Int32Array.of(8, 2, 9), maxNewTokens: 6, samplingSeed: 77 });
    alone.add(subject);
    const [expected] = await finishAll(alone);
    const crowded = new Generator(model, options);
    crowded.add(request({ slot: 0, tokenIds: Int32Array.of(1, 2, 3, 4, 5, 6, 7), maxNewTokens: 2 }));
    await crowded.step();
    crowded.add({ ...subject, slot: 3 });
    crowded.add(request({ slot: 4, tokenIds: Int32Array.of(5), maxNewTokens: 6 }));
    const turns = await finishAll(crowded);
    expect([...turns.find((turn) => turn.slot === 3)!.tokenIds]).toEqual([...expected.tokenIds]);
    dispose(alone, crowded, model);
  });

  it('refills a slot while others go on', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    generator.add(request({ slot: 0, tokenIds: Int32Array.of(1, 2), maxNewTokens: 1 }));
    generator.add(request({ slot: 1, tokenIds: Int32Array.of(1, 2), maxNewTokens: 4 }));
    const [first] = await generator.step();
    expect(first.slot).toBe(0);
    expect(generator.numPending).toBe(1);
    generator.add(request({ slot: 0, tokenIds: Int32Array.of(3, 2), maxNewTokens: 1 }));
    expect((await generator.step()).map((turn) => turn.slot)).toEqual([0]);
    expect((await finishAll(generator)).map((turn) => turn.slot)).toEqual([1]);
    dispose(generator, model);
  });

  it('ends a turn with a stop token, which is part of it', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const free = request({ slot: 0, tokenIds: Int32Array.of(1, 2, 3), maxNewTokens: 6 });
    generator.add(free);
    const [unstopped] = await finishAll(generator);
    expect(unstopped.stopReason).toBe('length');
    const stopTokenIds = [unstopped.tokenIds[2]];
    const length = unstopped.tokenIds.indexOf(stopTokenIds[0]) + 1;
    generator.add({ ...free, stopTokenIds });
    const [stopped] = await finishAll(generator);
    expect(stopped.stopReason).toBe('stop');
    expect([...stopped.tokenIds]).toEqual([...unstopped.tokenIds.subarray(0, length)]);
    dispose(generator, model);
  });

  it('reports the likeliest tokens of the model, or of the distribution that was sampled', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const before = tf.memory().numTensors;
    const sampling = { temperature: 0.5, topK: 2, numLikeliest: 3, greedy: true, maxNewTokens: 4 };
    const asked = request({ slot: 1, tokenIds: Int32Array.of(3, 4), ...sampling });
    const raw = new Generator(model, options);
    raw.add(request({ slot: 0, tokenIds: Int32Array.of(5), maxNewTokens: 4 }));
    raw.add(asked);
    const turns = await finishAll(raw);
    expect(turns.find(({ slot }) => slot === 0)?.likeliest).toBeNull();
    const { tokenIds, rawLogprobs, likeliest } = turns.find(({ slot }) => slot === 1)!;
    const firsts = likeliest!.map(([first]) => first);
    expect(firsts.map(({ tokenId }) => tokenId)).toEqual([...tokenIds]);
    expectClose(
      firsts.map(({ logprob }) => logprob),
      rawLogprobs,
      1e-5,
    );
    const processed = new Generator(model, { ...options, likeliestAfterTemperature: true });
    processed.add(asked);
    const [turn] = await finishAll(processed);
    turn.likeliest!.forEach(([first, second, third], n) => {
      expect(first.logprob).toBeCloseTo(turn.logprobs[n], 4);
      expect(Math.exp(first.logprob) + Math.exp(second.logprob)).toBeCloseTo(1, 4);
      expect(third.logprob).toBeLessThan(-1e6);
      // At half the temperature differences of logprobs double.
      const [a, b] = likeliest![n];
      expect(first.logprob - second.logprob).toBeCloseTo(2 * (a.logprob - b.logprob), 3);
    });
    raw.dispose();
    processed.dispose();
    // The model's own rotary table stays with the model.
    expect(tf.memory().numTensors).toBe(before + 1);
    model.dispose();
  });

  it('holds no tensor after it is disposed, and no more of them step after step', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const before = tf.memory().numTensors;
    const generator = new Generator(model, options);
    await playTurns(generator, { numTurns: 1, temperature: 1 });
    const afterOne = tf.memory().numTensors;
    await playTurns(generator, { numTurns: 3, temperature: 1 });
    expect(tf.memory().numTensors).toBe(afterOne);
    generator.dispose();
    // The model's own rotary table stays with the model.
    expect(tf.memory().numTensors).toBe(before + 1);
    model.dispose();
  });

  it('samples in the proportions of the policy', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 5);
    const generator = new Generator(model, { maxSlots: 64, maxTokens: 8, maxNewTokens: 1 });
    const counts = new Float64Array(TINY_CONFIG.vocabSize);
    const numRounds = 25;
    for (let round = 0; round < numRounds; round++) {
      for (let slot = 0; slot < 64; slot++) {
        generator.add(
          request({ slot, tokenIds: Int32Array.of(4, 9), maxNewTokens: 1, samplingSeed: round * 64 + slot }),
        );
      }
      for (const turn of await finishAll(generator)) counts[turn.tokenIds[0]]++;
    }
    const everyNext = Array.from(counts, (_, token) => [4, 9, token]);
    const { logprobs } = await evaluateLogprobs(model, makeBatch(everyNext), {
      temperature: 1,
      maxTokensPerMicroBatch: 256,
    });
    const numSamples = 64 * numRounds;
    const chiSquared = counts.reduce((sum, count, token) => {
      const expected = numSamples * Math.exp(logprobs[3 * token + 2]);
      return sum + (count - expected) ** 2 / expected;
    }, 0);
    // 18 degrees of freedom: the 99.9 % quantile is 42.3; the seeds are fixed, so this doesn't flicker.
    expect(chiSquared).toBeLessThan(42.3);
    dispose(generator, model);
  });

  it('refuses a request that contradicts its slot, and does not change the slot', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, options);
    const valid = request({ slot: 0, tokenIds: Int32Array.of(1, 2), maxNewTokens: 1 });
    const refusals: [Partial<TurnRequest>, RegExp][] = [
      [{ slot: 5 }, /slot is 5; slots are 0 … 4/],
      [{ keptPrefixTokens: 1 }, /keptPrefixTokens is 1; the context of slot 0 has 0 tokens/],
      [{ tokenIds: new Int32Array(0) }, /has no prompt/],
      [{ tokenIds: Int32Array.of(19) }, /token 0 has id 19; ids are 0 … 18/],
      [{ maxNewTokens: 7 }, /maxNewTokens is 7; it must be 1 … 6/],
      [{ tokenIds: new Int32Array(48) }, /may reach 49 tokens; a context has at most 48/],
      [{ temperature: 0 }, /temperature is 0/],
      [{ samplingSeed: 0.5 }, /samplingSeed is 0.5/],
    ];
    for (const [change, message] of refusals) {
      expect(() => {
        generator.add({ ...valid, ...change });
      }).toThrow(message);
    }
    expect(generator.numPending).toBe(0);
    generator.add(valid);
    expect(() => {
      generator.add(valid);
    }).toThrow(/slot 0 still runs a turn/);
    generator.release(0);
    expect(await generator.step()).toEqual([]);
    dispose(generator, model);
  });

  it('reports unusable weights', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const weights = new Map(await model.exportTensors());
    weights.set('model.norm.weight', { shape: [16], data: new Float32Array(16).fill(NaN) });
    model.assignTensors(weights);
    const generator = new Generator(model, options);
    generator.add(request({ slot: 0, tokenIds: Int32Array.of(1, 2), maxNewTokens: 1 }));
    await expect(generator.step()).rejects.toMatchObject({ code: 'NOT_FINITE' });
    dispose(generator, model);
  });
});

/** Plays episodes of several turns in all slots, each turn with an observation of its own length. */
async function playTurns(
  generator: Generator,
  {
    numTurns,
    temperature,
    maxNewTokens = 4,
  }: { numTurns: number; temperature: number; maxNewTokens?: number },
): Promise<Recorded[]> {
  const random = seededRandom(11);
  const episodes = Array.from({ length: options.maxSlots }, (): Recorded => ({
    tokenIds: [],
    logprobs: [],
    rawLogprobs: [],
    entropies: [],
  }));
  for (let turn = 0; turn < numTurns; turn++) {
    episodes.forEach((episode, slot) => {
      const length = 1 + Math.floor(random() * 6);
      const tokenIds = Int32Array.from({ length }, () => Math.floor(random() * TINY_CONFIG.vocabSize));
      generator.add(
        request({
          slot,
          keptPrefixTokens: episode.tokenIds.length,
          tokenIds,
          temperature,
          maxNewTokens: Math.min(maxNewTokens, 1 + slot),
          samplingSeed: 100 * turn + slot,
        }),
      );
      const unknown = Array.from(tokenIds, () => NaN);
      episode.tokenIds.push(...tokenIds);
      for (const column of [episode.logprobs, episode.rawLogprobs, episode.entropies])
        column.push(...unknown);
    });
    for (const finished of await finishAll(generator)) {
      const episode = episodes[finished.slot];
      episode.tokenIds.push(...finished.tokenIds);
      episode.logprobs.push(...finished.logprobs);
      episode.rawLogprobs.push(...finished.rawLogprobs);
      episode.entropies.push(...finished.entropies);
    }
  }
  return episodes;
}

async function expectScored(
  model: Transformer,
  episodes: readonly Recorded[],
  temperature: number,
): Promise<void> {
  const batch = makeBatch(episodes.map((episode) => episode.tokenIds));
  const score = (t: number) => evaluateLogprobs(model, batch, { temperature: t, maxTokensPerMicroBatch: 64 });
  const scaled = await score(temperature);
  const raw = await score(1);
  const sampled = episodes.flatMap((episode) => episode.logprobs.map((logprob) => !Number.isNaN(logprob)));
  const kept = (values: ArrayLike<number>) => Array.from(values).filter((_, n) => sampled[n]);
  const expectColumn = (column: 'logprobs' | 'rawLogprobs' | 'entropies', expected: Float32Array) => {
    expectClose(kept(episodes.flatMap((episode) => episode[column])), kept(expected), RATIO_TOLERANCE);
  };
  expect(sampled.filter(Boolean).length).toBeGreaterThan(4);
  expectColumn('logprobs', scaled.logprobs);
  expectColumn('rawLogprobs', raw.logprobs);
  expectColumn('entropies', scaled.entropies);
}

function dispose(...disposables: { dispose(): void }[]): void {
  for (const disposable of disposables) disposable.dispose();
}
