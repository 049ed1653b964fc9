import { describe, expect, it } from 'vitest';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { countParameters, estimateGenerationMemory, estimateTrainingMemory } from './estimate-memory.js';

const large = {
  ...TINY_CONFIG,
  vocabSize: 8192,
  hiddenSize: 256,
  numLayers: 4,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 64,
  intermediateSize: 1024,
  maxPositions: 2048,
  valueHead: false,
};
const lora = { rank: 16, alpha: 32, targets: ['q_proj', 'v_proj'] } as const;
const partOf = (estimate: ReturnType<typeof estimateTrainingMemory>, name: string) =>
  estimate.parts.find((part) => part.name === name)!.bytes;

/** Against measurements it is held by `npm run test:long -- memory-estimate`. */
describe('estimateTrainingMemory', () => {
  const shape = { passTokens: 2048, accumulates: false };

  it('adds up its parts, with 4 bytes for each weight', () => {
    const estimate = estimateTrainingMemory(large, shape);
    expect(estimate.parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(estimate.addedBytes);
    expect((estimate.totalBytes - estimate.addedBytes) / 2 ** 20).toBe(380);
    expect(partOf(estimate, 'weights')).toBe(4 * countParameters(large).numParameters);
  });

  it('is within 10 % of the peaks that were measured when the factor was: 999, 867 and 1,461 MiB', () => {
    const measured = [
      [{ passTokens: 2048, accumulates: false }, 999],
      [{ passTokens: 1024, accumulates: true }, 867],
      [{ passTokens: 4096, accumulates: false }, 1461],
    ] as const;
    const untied = { ...large, tieWordEmbeddings: false, attentionBias: false };
    for (const [pass, mebibytes] of measured) {
      const { totalBytes } = estimateTrainingMemory(untied, pass);
      expect(Math.abs(totalBytes / 2 ** 20 / mebibytes - 1)).toBeLessThan(0.1);
    }
  });

  it('counts a reference policy as a second copy of what is trained, which shares the rest', () => {
    const bytesOf = (config: Parameters<typeof estimateTrainingMemory>[0], keepsReference: boolean) =>
      estimateTrainingMemory(config, { ...shape, keepsReference }).totalBytes;
    const added = (config: Parameters<typeof estimateTrainingMemory>[0]) =>
      bytesOf(config, true) - bytesOf(config, false);
    expect(added(large)).toBe(4 * countParameters(large).numParameters);
    expect(added({ ...large, lora })).toBe(4 * countParameters({ ...large, lora }).numTrained);
  });

  it('has two more chunks of logits where the loss reads other ids', () => {
    const logits = (readsOtherIds: boolean) =>
      partOf(estimateTrainingMemory(large, { ...shape, readsOtherIds }), 'logits');
    expect(logits(true)).toBe(2 * logits(false));
  });

  it('grows with what is trained, the tokens of a pass and sums over passes, and shrinks with recomputation', () => {
    const whole = estimateTrainingMemory(large, shape);
    const adapted = estimateTrainingMemory({ ...large, lora }, shape);
    expect(partOf(adapted, 'gradients and optimizer')).toBeLessThan(
      partOf(whole, 'gradients and optimizer') / 50,
    );
    const twice = estimateTrainingMemory(large, { ...shape, passTokens: 4096 });
    expect(partOf(twice, 'activations of a pass')).toBe(2 * partOf(whole, 'activations of a pass'));
    expect(estimateTrainingMemory(large, { ...shape, accumulates: true }).totalBytes).toBeGreaterThan(
      whole.totalBytes,
    );
    const recomputed = estimateTrainingMemory(large, { ...shape, recomputesLayers: true });
    expect(partOf(recomputed, 'activations of a pass')).toBeLessThan(
      partOf(whole, 'activations of a pass') / 2,
    );
  });
});

describe('estimateGenerationMemory', () => {
  it('counts a key and a value for each layer, head and position of each slot and one more', () => {
    const estimate = estimateGenerationMemory(large, { maxSlots: 7, maxTokens: 100, maxNewTokens: 8 });
    expect(partOf(estimate, 'keys and values')).toBe(8 * 100 * 4 * 2 * 64 * 2 * 4);
  });

  it('has passes of at most 2,048 tokens, or 8,192 where a turn has one token', () => {
    const activations = (maxSlots: number, maxNewTokens: number) =>
      partOf(
        estimateGenerationMemory(large, { maxSlots, maxTokens: 100, maxNewTokens }),
        'activations of a pass',
      );
    expect(activations(200, 8) / activations(10, 8)).toBeCloseTo(2.048);
    expect(activations(200, 1) / activations(10, 1)).toBeCloseTo(8.192);
  });

  it('is within 20 % of the peaks that were measured: 635, 1,067, 1,145 and, of 8 layers × 768, 2,016 MiB', () => {
    const untied = { ...large, tieWordEmbeddings: false, attentionBias: false };
    const wide = {
      ...untied,
      ...{ vocabSize: 64, hiddenSize: 768, numLayers: 8, numHeads: 12 },
      ...{ numKeyValueHeads: 4, intermediateSize: 3072 },
    };
    const measured = [
      [untied, { maxSlots: 16, maxTokens: 160, maxNewTokens: 8 }, 635],
      [untied, { maxSlots: 64, maxTokens: 140, maxNewTokens: 1 }, 1067],
      [untied, { maxSlots: 192, maxTokens: 130, maxNewTokens: 1 }, 1145],
      [wide, { maxSlots: 16, maxTokens: 140, maxNewTokens: 1 }, 2016],
    ] as const;
    for (const [config, shape, mebibytes] of measured) {
      const { totalBytes } = estimateGenerationMemory(config, shape);
      expect(Math.abs(totalBytes / 2 ** 20 / mebibytes - 1)).toBeLessThan(0.2);
    }
  });
});
