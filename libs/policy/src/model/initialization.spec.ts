import { describe, expect, it } from 'vitest';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { initialTensors } from './initialization.js';

const wide = { ...TINY_CONFIG, hiddenSize: 128, vocabSize: 500, attentionBias: true };

function standardDeviation(data: Float32Array): number {
  return Math.sqrt(data.reduce((sum, value) => sum + value * value, 0) / data.length);
}

describe('initialTensors', () => {
  it('depends on the seed and on nothing else', () => {
    expect(initialTensors(TINY_CONFIG, 1)).toEqual(initialTensors(TINY_CONFIG, 1));
    expect(initialTensors(TINY_CONFIG, 1)).not.toEqual(initialTensors(TINY_CONFIG, 2));
  });

  it('leaves other tensors as they were when a head is added', () => {
    const without = initialTensors({ ...TINY_CONFIG, valueHead: false }, 1);
    const withHead = initialTensors(TINY_CONFIG, 1);
    for (const [name, tensor] of without) expect(withHead.get(name)).toEqual(tensor);
  });

  it('scales weights by their fan-in, and those into the residual stream down by the depth', () => {
    const tensors = initialTensors(wide, 1);
    const std = (name: string) => standardDeviation(tensors.get(name)!.data);
    expect(std('model.layers.0.mlp.up_proj.weight')).toBeCloseTo(1 / Math.sqrt(128), 2);
    expect(std('model.layers.0.self_attn.o_proj.weight')).toBeCloseTo(1 / Math.sqrt(24) / 2, 2);
    expect(tensors.get('model.norm.weight')!.data.every((value) => value === 1)).toBe(true);
    expect(tensors.get('model.layers.0.self_attn.q_proj.bias')!.data.every((value) => value === 0)).toBe(
      true,
    );
  });

  it('draws the LM head with the standard deviation that the config names', () => {
    const tensors = initialTensors({ ...wide, lmHeadInitializerStd: 0.001 }, 1);
    expect(standardDeviation(tensors.get('lm_head.weight')!.data)).toBeCloseTo(0.001, 4);
  });
});
