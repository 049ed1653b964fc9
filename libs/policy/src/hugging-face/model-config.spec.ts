import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { goldenModelDirectory } from '../testing/transformer-golden.js';
import type { GoldenModelName } from '../testing/transformer-golden.js';
import { parseHuggingFaceConfig, writeHuggingFaceConfig } from './model-config.js';

function configOf(name: GoldenModelName): Record<string, unknown> {
  return JSON.parse(readFileSync(`${goldenModelDirectory(name)}/config.json`, 'utf8')) as Record<
    string,
    unknown
  >;
}

const qwen2 = configOf('qwen2.5');
const shape = {
  vocabSize: 32,
  hiddenSize: 16,
  numLayers: 2,
  numHeads: 4,
  numKeyValueHeads: 2,
  intermediateSize: 24,
  rmsNormEps: 1e-6,
};

describe('parseHuggingFaceConfig', () => {
  it('reads the config.json that transformers writes for Qwen2.5', () => {
    expect(parseHuggingFaceConfig(qwen2, { valueHead: true, maxPositions: 32 })).toEqual({
      ...shape,
      headDim: 4,
      ropeTheta: 1e6,
      tieWordEmbeddings: true,
      attentionBias: true,
      maxPositions: 32,
      valueHead: true,
    });
  });

  it('reads the norms of Qwen3 and the scaled positions of Llama 3', () => {
    expect(parseHuggingFaceConfig(configOf('qwen3'), { valueHead: false })).toMatchObject({
      ...shape,
      headDim: 8,
      attentionBias: false,
      queryKeyNorm: true,
    });
    expect(parseHuggingFaceConfig(configOf('llama'), { valueHead: false })).toMatchObject({
      ...shape,
      attentionBias: false,
      ropeTheta: 1e4,
      ropeScaling: {
        type: 'llama3',
        factor: 8,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalMaxPositions: 128,
      },
    });
  });

  it('finds rotary parameters where older files have them', () => {
    const { rope_parameters: _, ...older } = qwen2;
    const parse = (json: unknown) => parseHuggingFaceConfig(json, { valueHead: false });
    expect(parse({ ...older, rope_theta: 5e5 }).ropeTheta).toBe(5e5);
    expect(parse(older).ropeTheta).toBe(1e4);
    const scaled = parse({ ...older, rope_theta: 5e5, rope_scaling: { type: 'linear', factor: 2 } });
    expect(scaled).toMatchObject({ ropeTheta: 5e5, ropeScaling: { type: 'linear', factor: 2 } });
  });

  it('takes Mistral for the block it is, if no window cuts its contexts', () => {
    const mistral = { ...configOf('llama'), model_type: 'mistral', sliding_window: 64 };
    expect(parseHuggingFaceConfig(mistral, { valueHead: false })).toMatchObject(shape);
    expect(() => parseHuggingFaceConfig({ ...mistral, sliding_window: 63 }, { valueHead: false })).toThrow(
      /sliding_window 63; it must be at least the longest context, 64 tokens/,
    );
  });

  it.each<[Record<string, unknown>, string, RegExp]>([
    [
      { model_type: 'gpt2' },
      'UNSUPPORTED_MODEL',
      /dir\/config.json has model_type "gpt2"; it must be one of/,
    ],
    [{ model_type: 'qwen' }, 'UNSUPPORTED_MODEL', /did you mean qwen2 or qwen3\?/],
    [{ model_type: undefined }, 'UNSUPPORTED_MODEL', /model_type null/],
    [{ model_type: 3 }, 'INVALID_FILE', /model_type 3; it must be a string/],
    [{ hidden_act: 'gelu' }, 'UNSUPPORTED_MODEL', /hidden_act "gelu"; it must be "silu"/],
    [{ quantization_config: { bits: 4 } }, 'UNSUPPORTED_MODEL', /quantization_config/],
    [
      { use_sliding_window: true, sliding_window: 4 },
      'UNSUPPORTED_MODEL',
      /sliding_window 4; it must be at least the longest context, 64 tokens/,
    ],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, 'UNSUPPORTED_MODEL', /layer_types/],
    [
      { rope_parameters: { rope_type: 'longrope', rope_theta: 1 } },
      'UNSUPPORTED_MODEL',
      /rope_type "longrope"; it must be default, linear, dynamic, llama3 or yarn/,
    ],
    [{ rope_parameters: { rope_type: 'linear' } }, 'INVALID_FILE', /factor null; it is required/],
    [{ rope_parameters: { partial_rotary_factor: 0.5 } }, 'UNSUPPORTED_MODEL', /partial_rotary_factor 0.5/],
    [{ vocab_size: undefined }, 'INVALID_FILE', /vocab_size null; it is required/],
    [{ vocab_size: -1 }, 'INVALID_CONFIG', /vocabSize is -1/],
    [{ model_type: 'llama', attention_bias: true }, 'UNSUPPORTED_MODEL', /attention_bias true/],
  ])('refuses %j', (change, code, message) => {
    const parse = () =>
      parseHuggingFaceConfig({ ...qwen2, ...change }, { valueHead: false }, 'dir/config.json');
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code }));
  });
});

describe('writeHuggingFaceConfig', () => {
  it.each(['qwen2', 'qwen2.5', 'qwen3', 'llama'] as const)(
    'writes a config.json that reads as the same %s',
    (name) => {
      const config = parseHuggingFaceConfig(configOf(name), { valueHead: false });
      const written = writeHuggingFaceConfig(config, 'float32');
      expect(parseHuggingFaceConfig(written, { valueHead: false })).toEqual(config);
      const { architectures, model_type } = configOf(name);
      expect(written).toMatchObject({ architectures, model_type });
    },
  );

  it('refuses a block that no family has', () => {
    const config = parseHuggingFaceConfig(qwen2, { valueHead: false });
    expect(() => writeHuggingFaceConfig({ ...config, queryKeyNorm: true }, 'float32')).toThrow(
      /no model family has attentionBias true with queryKeyNorm true/,
    );
  });
});
