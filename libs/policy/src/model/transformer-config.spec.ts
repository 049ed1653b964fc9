import { describe, expect, it } from 'vitest';
import { tinyConfig } from '../testing/tiny-config.js';
import { transformerGolden } from '../testing/transformer-golden.js';
import { parseHuggingFaceConfig } from './hugging-face-config.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';

describe('validateTransformerConfig', () => {
  it('accepts a sound config', () => {
    expect(() => {
      validateTransformerConfig(tinyConfig);
    }).not.toThrow();
  });

  it.each<[Partial<TransformerConfig>, RegExp]>([
    [{ hiddenSize: 0 }, /hiddenSize is 0; it must be a positive integer/],
    [{ numLayers: 1.5 }, /numLayers is 1.5; it must be a positive integer/],
    [{ numHeads: 3 }, /numHeads is 3; it must be a multiple of numKeyValueHeads \(2\)/],
    [{ headDim: 5 }, /headDim is 5; it must be even/],
    [{ rmsNormEps: NaN }, /rmsNormEps is NaN; it must be a positive number/],
    [
      { tieWordEmbeddings: true, lmHeadInitializerStd: 0.01 },
      /lmHeadInitializerStd is 0.01; it must be absent/,
    ],
  ])('refuses %j', (change, message) => {
    expect(() => {
      validateTransformerConfig({ ...tinyConfig, ...change });
    }).toThrow(message);
  });
});

describe('parseHuggingFaceConfig', () => {
  const { config } = transformerGolden.models.qwen2 as unknown as { config: Record<string, unknown> };

  it('reads what transformers writes', () => {
    expect(parseHuggingFaceConfig(config, { valueHead: true, maxPositions: 32 })).toEqual({
      vocabSize: 32,
      hiddenSize: 16,
      numLayers: 2,
      numHeads: 4,
      numKeyValueHeads: 2,
      headDim: 4,
      intermediateSize: 24,
      ropeTheta: 1e6,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: true,
      attentionBias: true,
      maxPositions: 32,
      valueHead: true,
    });
  });

  it('finds the rope theta of older files at the top level', () => {
    const { rope_parameters: _, ...older } = config;
    expect(parseHuggingFaceConfig({ ...older, rope_theta: 5e5 }, { valueHead: false }).ropeTheta).toBe(5e5);
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ model_type: 'gpt2' }, /model_type "gpt2"; it must be qwen2 or llama/],
    [{ hidden_act: 'gelu' }, /hidden_act "gelu"; it must be silu/],
    [{ use_sliding_window: true }, /use_sliding_window true; it must be false/],
    [{ rope_parameters: { rope_type: 'yarn', rope_theta: 1 } }, /rope_type "yarn"; it must be default/],
    [{ vocab_size: undefined }, /vocab_size undefined; it is required/],
    [{ model_type: 'llama', attention_bias: true }, /attention_bias true; it must be false/],
  ])('refuses %j', (change, message) => {
    expect(() => parseHuggingFaceConfig({ ...config, ...change }, { valueHead: false })).toThrow(message);
  });
});
