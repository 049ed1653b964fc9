import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRopeParameters } from '../hugging-face/rope-parameters.js';
import { ConfigJson } from '../hugging-face/config-json.js';
import { rotaryFrequencies } from './rope-scaling.js';

interface RopeGolden {
  readonly parameters: Record<string, unknown>;
  readonly headDim: number;
  readonly maxPositions: number;
  /** In float32. */
  readonly frequencies: number[];
  readonly scale: number;
}

const golden = JSON.parse(
  readFileSync(new URL('../../../../test/golden/policy/rope.json', import.meta.url), 'utf8'),
) as Record<string, RopeGolden>;

describe('rotaryFrequencies', () => {
  it.each(Object.keys(golden))('are those of transformers: %s', (title) => {
    const { parameters, headDim, maxPositions, frequencies, scale } = golden[title];
    const json = { rope_parameters: parameters, max_position_embeddings: maxPositions };
    const actual = rotaryFrequencies({ headDim, ...readRopeParameters(new ConfigJson('config.json', json)) });
    expect(actual.scale).toBeCloseTo(scale, 6);
    expect(actual.frequencies.length).toBe(frequencies.length);
    frequencies.forEach((expected, i) => {
      expect(Math.abs(actual.frequencies[i] / expected - 1), `pair ${i}`).toBeLessThan(1e-5);
    });
  });

  it('are θ^(−2i/D) without scaling', () => {
    expect([...rotaryFrequencies({ headDim: 4, ropeTheta: 100 }).frequencies]).toEqual([1, 0.1]);
  });
});
