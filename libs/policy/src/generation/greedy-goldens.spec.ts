import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadHuggingFaceModel } from '../hugging-face/load-model.js';
import { onEachBackend } from '@retrace/compute/testing';
import { expectClose, finishAll, request } from '../testing/turns.js';
import { Generator } from './generator.js';

interface Answer {
  readonly prompt: number[];
  readonly tokens: number[];
  /** log π of each token, in nats. */
  readonly logprobs: number[];
}

const directory = fileURLToPath(new URL('../../../../test/golden/policy', import.meta.url));
const read = (file: string) => JSON.parse(readFileSync(`${directory}/${file}`, 'utf8')) as unknown;

/** Answers of `generate` of transformers, and of vLLM's server (test/golden/policy/generate_generation.py). */
const { models } = read('generation.json') as { readonly models: Readonly<Record<string, Answer[]>> };
const vllm = read('vllm.json') as { readonly answers: Answer[] };
const cases: [string, Answer[]][] = [...Object.entries(models), ['vllm', vllm.answers]];

await onEachBackend('Greedy decoding', () => {
  describe.each(cases)('of %s', (name, answers) => {
    it('gives the tokens and log probabilities of the other engine', async () => {
      const model = await loadHuggingFaceModel(`${directory}/models/${name}`, {
        valueHead: false,
        maxPositions: 64,
        seed: 1,
      });
      const maxNewTokens = answers[0].tokens.length;
      const generator = new Generator(model, { maxSlots: answers.length, maxTokens: 64, maxNewTokens });
      answers.forEach(({ prompt }, slot) => {
        generator.add(request({ slot, tokenIds: Int32Array.from(prompt), greedy: true, maxNewTokens }));
      });
      const turns = await finishAll(generator);
      expect(turns.length).toBe(answers.length);
      for (const { slot, tokenIds, rawLogprobs } of turns) {
        expect([...tokenIds]).toEqual(answers[slot].tokens);
        expectClose(rawLogprobs, answers[slot].logprobs, 1e-4);
      }
      generator.dispose();
      model.dispose();
    });
  });
});
