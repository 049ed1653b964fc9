import { describe, expect, it } from 'vitest';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';

describe('validateTransformerConfig', () => {
  it('accepts a valid config', () => {
    expect(() => {
      validateTransformerConfig(TINY_CONFIG);
    }).not.toThrow();
  });

  it.each<[Partial<TransformerConfig>, RegExp]>([
    [{ hiddenSize: 0 }, /hiddenSize is 0; it must be a positive integer/],
    [{ numLayers: 1.5 }, /numLayers is 1.5; it must be a positive integer/],
    [{ numHeads: 3 }, /numHeads is 3; it must be a multiple of numKeyValueHeads \(2\)/],
    [{ headDim: 5 }, /headDim is 5; it must be even/],
    [{ valueHead: false, valueTrunk: 'own' }, /valueTrunk is own; it must be absent when valueHead is false/],
    [{ lora: { rank: 0, alpha: 1, targets: ['q_proj'] } }, /LoraConfig.rank is 0; it must be a positive/],
    [{ lora: { rank: 1, alpha: -1, targets: ['q_proj'] } }, /LoraConfig.alpha is -1; it must be a positive/],
    [{ lora: { rank: 1, alpha: 1, targets: [] } }, /LoraConfig.targets is \[\]; it must name at least one/],
    [{ ropeScaling: { type: 'linear', factor: 0 } }, /ropeScaling.factor is 0; it must be a positive number/],
    [
      { ropeScaling: { type: 'dynamic', factor: 2, originalMaxPositions: 32 } },
      /maxPositions is 64; it must be at most the original 32 with rope scaling dynamic/,
    ],
    [{ rmsNormEps: NaN }, /rmsNormEps is NaN; it must be a positive number/],
    [
      { tieWordEmbeddings: true, lmHeadInitializerStd: 0.01 },
      /lmHeadInitializerStd is 0.01; it must be absent/,
    ],
  ])('refuses %j', (change, message) => {
    expect(() => {
      validateTransformerConfig({ ...TINY_CONFIG, ...change });
    }).toThrow(message);
  });
});
