import { expect, it } from 'vitest';
import { Transformer } from '../model/transformer.js';
import { onEachBackend } from '@retrace/compute/testing';
import { seededRandom } from '../testing/random-batch.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { finishAll, request } from '../testing/turns.js';
import { Generator } from './generator.js';

const NUM_CONTEXTS = 60;

/** Collectors that divide a round must record what one collector would have: TensorFlow's own product alone rounds by the number of rows. */
await onEachBackend('A single token after a fresh prompt', (backend) => {
  it.runIf(backend !== 'tensorflow')('has the same bits in any company', async () => {
    const model = Transformer.initialize({ ...TINY_CONFIG, hiddenSize: 32 }, 1);
    const random = seededRandom(5);
    const parameters = await model.exportTensors();
    for (const [name, { data }] of parameters) {
      // They start as ones, which hides on which side of a product they are.
      if (/norm/i.test(name)) data.set(data.map(() => 0.5 + random()));
    }
    model.parameters.assign(parameters, model.trainableSpecs);
    const contexts = Array.from({ length: NUM_CONTEXTS }, () =>
      Int32Array.from({ length: 2 + Math.floor(20 * random()) }, () =>
        Math.floor(TINY_CONFIG.vocabSize * random()),
      ),
    );
    const all = [...contexts.keys()];
    const whole = await sample(model, contexts, all);
    for (const part of [all.filter((i) => i % 2 === 1), all.slice(3, 6), all.slice(7, 8), all.slice(20)]) {
      const some = await sample(model, contexts, part);
      for (const i of part) expect(some.get(i)).toEqual(whole.get(i));
    }
    model.dispose();
  });
});

/** Token, logprob and entropy of each of those contexts, sampled together. */
async function sample(
  model: Transformer,
  contexts: readonly Int32Array[],
  chosen: readonly number[],
): Promise<Map<number, number[]>> {
  const generator = new Generator(model, { maxSlots: NUM_CONTEXTS, maxTokens: 32, maxNewTokens: 1 });
  chosen.forEach((context, slot) => {
    generator.add(
      request({ slot, tokenIds: contexts[context], maxNewTokens: 1, samplingSeed: 100 + context }),
    );
  });
  const turns = await finishAll(generator);
  generator.dispose();
  return new Map(
    turns.map(({ slot, tokenIds, logprobs, entropies }) => [
      chosen[slot],
      [tokenIds[0], logprobs[0], entropies[0]],
    ]),
  );
}
