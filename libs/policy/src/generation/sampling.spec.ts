import { readFileSync } from 'node:fs';
import * as tf from '@retrace/compute/tensorflow';
import { expect, it } from 'vitest';
import { onEachBackend } from '@retrace/compute/testing';
import { expectClose } from '../testing/turns.js';
import { sampleTokens } from './sampling.js';

interface SamplingGolden {
  readonly vocabSize: number;
  readonly logits: number[];
  readonly cases: readonly {
    readonly temperature: number;
    readonly topK: number;
    readonly topP: number;
    /** log p of each id that is left; null for the others. */
    readonly logprobs: (number | null)[];
  }[];
}

/** Logits that the warpers of transformers leave (test/golden/policy/generate_generation.py). */
const golden = JSON.parse(
  readFileSync(new URL('../../../../test/golden/policy/sampling.json', import.meta.url), 'utf8'),
) as SamplingGolden;

const NUM_SAMPLES = 2000;

/** Every case many times over, with uniform numbers that lie evenly in (0, 1). */
async function sampleCase(
  { temperature, topK, topP }: { temperature: number; topK: number; topP: number },
  greedy = 0,
): Promise<{ ids: number[]; logprobs: number[]; rawLogprobs: number[]; entropies: number[] }> {
  const repeated = <T>(value: T) => Array.from({ length: NUM_SAMPLES }, () => value);
  const samples = tf.tidy(() =>
    sampleTokens(tf.tensor2d(golden.logits, [1, golden.vocabSize]), {
      rows: new Int32Array(NUM_SAMPLES),
      temperatures: Float32Array.from(repeated(temperature)),
      topK: Int32Array.from(repeated(topK)),
      topP: Float32Array.from(repeated(topP)),
      greedy: Uint8Array.from(repeated(greedy)),
      uniforms: Float32Array.from({ length: NUM_SAMPLES }, (_, n) => (n + 0.5) / NUM_SAMPLES),
    }),
  );
  const values = Array.from(await samples.data());
  samples.dispose();
  const column = (row: number) => values.slice(row * NUM_SAMPLES, (row + 1) * NUM_SAMPLES);
  return { ids: column(0), logprobs: column(1), rawLogprobs: column(2), entropies: column(3) };
}

const logSum = Math.log(golden.logits.reduce((sum, logit) => sum + Math.exp(logit), 0));

await onEachBackend('sampleTokens', () => {
  it.each(golden.cases)(
    'draws from what transformers leaves under temperature $temperature, top-k $topK, top-p $topP',
    async ({ logprobs: expected, ...parameters }) => {
      const { ids, logprobs, rawLogprobs, entropies } = await sampleCase(parameters);
      expectClose(
        logprobs,
        ids.map((id) => expected[id] ?? NaN),
        1e-4,
      );
      expectClose(
        rawLogprobs,
        ids.map((id) => golden.logits[id] - logSum),
        1e-4,
      );
      const entropy = expected.reduce(
        (sum: number, logp) => sum - (logp === null ? 0 : Math.exp(logp) * logp),
        0,
      );
      expectClose(
        entropies,
        ids.map(() => entropy),
        1e-4,
      );
      // Evenly spaced numbers meet each id in proportion, but for one at each end of its stretch.
      expected.forEach((logp, id) => {
        const share = ids.filter((sampled) => sampled === id).length / NUM_SAMPLES;
        expect(Math.abs(share - (logp === null ? 0 : Math.exp(logp)))).toBeLessThan(2 / NUM_SAMPLES);
      });
    },
  );

  it('takes the most likely token where greedy, with its probability under the transform', async () => {
    const [{ logprobs: expected, ...parameters }] = golden.cases;
    const { ids, logprobs } = await sampleCase(parameters, 1);
    const likeliest = golden.logits.indexOf(Math.max(...golden.logits));
    expect(new Set(ids)).toEqual(new Set([likeliest]));
    expect(logprobs[0]).toBeCloseTo(expected[likeliest]!, 4);
  });
});
