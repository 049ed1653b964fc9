import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Transformer } from '../model/transformer.js';
import { evaluateLogprobs } from '../logprobs/evaluate-logprobs.js';
import { onEachBackend } from '@retrace/compute/testing';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { makeBatch, expectClose, finishAll, request } from '../testing/turns.js';
import { Generator } from './generator.js';
import { planPasses } from './plan-passes.js';
import { Slot } from './slot.js';
import type { FinishedTurn, TurnRequest } from './turn.js';

const options = { maxSlots: 4, maxTokens: 48, maxNewTokens: 5 };
const scoring = { temperature: 1, maxTokensPerMicroBatch: 512 };

const token = fc.integer({ min: 0, max: TINY_CONFIG.vocabSize - 1 });

/** One turn of an episode: what it adds to the context, and how it is sampled. */
const plannedTurn = fc.record({
  observation: fc.array(token, { minLength: 1, maxLength: 9 }),
  maxNewTokens: fc.integer({ min: 1, max: 5 }),
  temperature: fc.constantFrom(0.5, 1, 1.7),
  topK: fc.constantFrom(0, 3),
  topP: fc.constantFrom(1, 0.8),
});

/** Episodes whose contexts often begin alike, as those of a group do. */
const plannedEpisodes = fc.record({
  shared: fc.array(token, { minLength: 9, maxLength: 14 }),
  episodes: fc.array(
    fc.record({
      sharesBeginning: fc.boolean(),
      seed: fc.integer({ min: 0, max: 1000 }),
      turns: fc.array(plannedTurn, { minLength: 1, maxLength: 2 }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  maxTokensPerStep: fc.integer({ min: 4, max: 40 }),
});

type PlannedEpisodes = typeof plannedEpisodes extends fc.Arbitrary<infer T> ? T : never;
type PlannedEpisode = PlannedEpisodes['episodes'][number];

interface Played {
  readonly context: number[];
  readonly turns: FinishedTurn[];
  /** Where each turn's tokens begin. */
  readonly starts: number[];
}

/** Plays episodes side by side, each turn added as soon as the one before it has finished. */
async function play(
  model: Transformer,
  shared: readonly number[],
  episodes: readonly PlannedEpisode[],
  maxTokensPerStep: number,
): Promise<Played[]> {
  const generator = new Generator(model, { ...options, maxTokensPerStep });
  const played = episodes.map((): Played => ({ context: [], turns: [], starts: [] }));
  const ask = (slot: number): void => {
    const { context, turns, starts } = played[slot];
    const { sharesBeginning, seed } = episodes[slot];
    const { observation, ...sampling } = episodes[slot].turns[turns.length];
    const tokenIds = context.length === 0 && sharesBeginning ? [...shared, ...observation] : observation;
    generator.add(
      request({
        slot,
        keptPrefixTokens: context.length,
        tokenIds: Int32Array.from(tokenIds),
        samplingSeed: 10 * seed + turns.length,
        ...sampling,
      }),
    );
    context.push(...tokenIds);
    starts.push(context.length);
  };
  episodes.forEach((_, slot) => {
    ask(slot);
  });
  while (generator.numPending > 0) {
    for (const turn of await generator.step()) {
      const { context, turns } = played[turn.slot];
      context.push(...turn.tokenIds);
      turns.push(turn);
      if (turns.length < episodes[turn.slot].turns.length) ask(turn.slot);
    }
  }
  generator.dispose();
  return played;
}

await onEachBackend('Continuous batching', (backend) => {
  it('gives the logits of one forward pass over the whole context, and the tokens of a turn that runs without others, however it is cut and shared', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 3);
    await fc.assert(
      fc.asyncProperty(plannedEpisodes, async ({ shared, episodes, maxTokensPerStep }) => {
        const together = await play(model, shared, episodes, maxTokensPerStep);
        const scores = await evaluateLogprobs(
          model,
          makeBatch(together.map(({ context }) => context)),
          scoring,
        );
        let offset = 0;
        for (const { context, turns, starts } of together) {
          turns.forEach((turn, t) => {
            const start = offset + starts[t];
            const expected = scores.logprobs.subarray(start, start + turn.tokenIds.length);
            expectClose(turn.rawLogprobs, expected, 1e-4);
          });
          offset += context.length;
        }
        for (const [slot, episode] of episodes.entries()) {
          const [alone] = await play(model, shared, [episode], 40);
          expect(together[slot].context).toEqual(alone.context);
        }
      }),
      { numRuns: backend === 'tensorflow' ? 12 : 3, seed: 6 },
    );
    model.dispose();
  });

  it('keeps others going while a long prompt is computed in pieces', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, { ...options, maxTokensPerStep: 5 });
    generator.add(request({ slot: 0, tokenIds: Int32Array.of(1, 2), maxNewTokens: 5 }));
    await generator.step();
    const long = Int32Array.from({ length: 18 }, (_, n) => n);
    generator.add(
      request({ slot: 1, tokenIds: long, maxNewTokens: 1, keptPrefixTokens: 0, samplingSeed: 4 }),
    );
    generator.release(1);
    generator.add(request({ slot: 1, tokenIds: long, maxNewTokens: 2, samplingSeed: 4 }));
    // One token of slot 0 and four of the prompt in each of the four steps that slot 0 has left.
    for (let step = 0; step < 3; step++) expect(await generator.step()).toEqual([]);
    expect((await generator.step()).map(({ slot }) => slot)).toEqual([0]);
    const [turn] = await finishAll(generator);
    const context = [...long, ...turn.tokenIds];
    const { logprobs } = await evaluateLogprobs(model, makeBatch([context]), scoring);
    expectClose(turn.logprobs, logprobs.subarray(18), 1e-4);
    generator.dispose();
    model.dispose();
  });

  it('gives members of a group that ask for one token from equal contexts tokens of their own', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const generator = new Generator(model, { ...options, maxSlots: 16 });
    const add = (slot: number, tokenIds: number[]) => {
      generator.add(
        request({ slot, tokenIds: Int32Array.from(tokenIds), maxNewTokens: 1, samplingSeed: slot }),
      );
    };
    for (let slot = 0; slot < 16; slot++) add(slot, slot % 2 === 0 ? [3, 4, 5] : [6, 7]);
    const together = await finishAll(generator);
    expect(
      new Set(together.filter(({ slot }) => slot % 2 === 0).map(({ tokenIds }) => tokenIds[0])).size,
    ).toBeGreaterThan(1);
    for (const turn of together) {
      const prompt = turn.slot % 2 === 0 ? [3, 4, 5] : [6, 7];
      add(turn.slot, prompt);
      const [alone] = await finishAll(generator);
      expect([...alone.tokenIds]).toEqual([...turn.tokenIds]);
      expectClose(alone.logprobs, turn.logprobs, 1e-5);
    }
    generator.dispose();
    model.dispose();
  });

  it('ends a turn as soon as its text has a stop string in it, across tokens', async () => {
    const model = Transformer.initialize(TINY_CONFIG, 1);
    const decode = (tokenIds: Int32Array) =>
      Array.from(tokenIds, (id) => String.fromCharCode(97 + id)).join('');
    const generator = new Generator(model, { ...options, decode });
    const free = request({ slot: 0, tokenIds: Int32Array.of(1, 2, 3), maxNewTokens: 5 });
    generator.add(free);
    const [unstopped] = await finishAll(generator);
    const text = decode(unstopped.tokenIds);
    generator.add({ ...free, stopStrings: ['no such text', text.slice(1, 3)] });
    const [stopped] = await finishAll(generator);
    const end = text.indexOf(text.slice(1, 3)) + 2;
    expect(stopped.stopReason).toBe('stopString');
    expect([...stopped.tokenIds]).toEqual([...unstopped.tokenIds.subarray(0, end)]);
    generator.dispose();
    model.dispose();
  });
});

describe('planPasses', () => {
  /** Slots of contexts that begin a turn with these tokens, in order. */
  function contextsOf(prompts: readonly number[][]) {
    const slots = prompts.map(() => new Slot(64, null));
    prompts.forEach((prompt, slot) => {
      slots[slot].begin(request({ slot, tokenIds: Int32Array.from(prompt), maxNewTokens: 2 }));
    });
    return { slots, live: slots.map((context, slot) => ({ slot, context, turn: context.turn! })) };
  }
  const prompt = Array.from({ length: 20 }, (_, n) => n);

  it('computes a prompt that a group shares once, and copies it to the other members', () => {
    const { slots, live } = contextsOf([prompt, prompt, [...prompt, 7]]);
    const plan = planPasses(live, slots, 100);
    expect(plan.chunks.map(({ slot, tokenIds }) => [slot, tokenIds.length])).toEqual([[0, 20]]);
    // The last token of a context is computed in any case.
    expect(plan.laterCopies).toEqual([
      { from: 0, to: 1, numTokens: 19 },
      { from: 0, to: 2, numTokens: 20 },
    ]);
    expect(plan.laterChunks.map(({ slot, start, tokenIds }) => [slot, start, tokenIds.length])).toEqual([
      [1, 19, 1],
      [2, 20, 1],
    ]);
  });

  it('copies from a context that is cached, even of an episode that has ended', () => {
    const { slots, live } = contextsOf([prompt, prompt]);
    slots[0].markCached(20);
    slots[0].clear();
    const plan = planPasses([live[1]], slots, 100);
    expect(plan.copies).toEqual([{ from: 0, to: 1, numTokens: 19 }]);
    expect(plan.chunks.map(({ slot, start }) => [slot, start])).toEqual([[1, 19]]);
  });

  it('computes what differs from the first tokens on, and cuts prompts where the budget ends', () => {
    const other = prompt.map((id) => id + 1);
    const { slots, live } = contextsOf([prompt, other, prompt]);
    const plan = planPasses(live, slots, 25);
    expect(plan.chunks.map(({ slot, tokenIds }) => [slot, tokenIds.length])).toEqual([
      [0, 20],
      [1, 5],
    ]);
    expect(plan.copies).toEqual([]);
  });

  it('reuses the slot’s own cache as far as a new context begins as the former', () => {
    const slot = new Slot(64, null);
    const turn = (tokenIds: number[]): TurnRequest =>
      request({ slot: 0, tokenIds: Int32Array.from(tokenIds), maxNewTokens: 2 });
    slot.begin(turn(prompt));
    slot.markCached(20);
    slot.clear();
    slot.begin(turn([...prompt.slice(0, 12), 0, 0]));
    expect(slot.firstUncached).toBe(12);
  });
});
