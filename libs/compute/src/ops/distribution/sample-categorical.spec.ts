import * as tf from '../../tensorflow.js';
import { expect, it } from 'vitest';
import { onEachBackend } from '../../testing/on-each-backend.js';
import { sampleCategorical } from './sample-categorical.js';

/** Samples one row of probabilities at each of the uniform numbers. */
function sample(probabilities: readonly number[], uniforms: readonly number[]): number[] {
  return tf.tidy(() => {
    const row = tf.tensor2d([...probabilities], [1, probabilities.length]);
    const rows = tf.tile(row, [uniforms.length, 1]);
    return [...sampleCategorical(rows, tf.tensor2d([...uniforms], [uniforms.length, 1])).dataSync()];
  });
}

await onEachBackend('sampleCategorical', () => {
  it('inverts the cumulative distribution', () => {
    expect(sample([0.25, 0.5, 0.25], [0, 0.24, 0.25, 0.5, 0.74, 0.75, 0.99])).toEqual([0, 0, 1, 1, 1, 2, 2]);
  });

  it('never returns an id of probability 0, also at the ends of the interval', () => {
    const edges = [0, 2 ** -25, 0.5, 1 - 2 ** -24, 1 - 2 ** -25, 1];
    for (const chosen of sample([0, 0.5, 0, 0.5, 0, 0], edges)) expect([1, 3]).toContain(chosen);
    expect(sample([0, 0, 1, 0], edges)).toEqual(edges.map(() => 2));
  });

  it('scales probabilities that do not sum to 1', () => {
    expect(sample([1, 3], [0.2, 0.3])).toEqual([0, 1]);
  });

  it('returns the only id', () => {
    expect(sample([1], [0, 0.5, 1])).toEqual([0, 0, 0]);
  });

  it('stays in range, with a small rounding error, among 150,000 ids', () => {
    const numIds = 150_000;
    const uniforms = [0, 0.1, 0.5, 0.9, 1 - 2 ** -24];
    const chosen = sample(new Array<number>(numIds).fill(1 / numIds), uniforms);
    chosen.forEach((id, i) => {
      expect(id).toBeLessThan(numIds);
      expect(Math.abs(id / numIds - uniforms[i])).toBeLessThan(1e-3);
    });
  });

  it('reaches the last likely id behind a long tail of unlikely ones', () => {
    const numIds = 150_000;
    const probabilities = new Array<number>(numIds).fill(1e-9);
    probabilities[numIds - 1] = 1;
    expect(sample(probabilities, [0.5, 1 - 2 ** -24])).toEqual([numIds - 1, numIds - 1]);
  });

  it('returns ids as often as their probabilities require', () => {
    const probabilities = [0.1, 0, 0.2, 0.7];
    const numDraws = 10_000;
    const uniforms = Array.from({ length: numDraws }, (_, draw) => (draw + 0.5) / numDraws);
    const counts = [0, 0, 0, 0];
    for (const id of sample(probabilities, uniforms)) counts[id]++;
    // Uniforms on a regular grid: each count is exact up to one draw at either end.
    counts.forEach((count, id) => {
      expect(Math.abs(count - probabilities[id] * numDraws)).toBeLessThanOrEqual(2);
    });
  });
});
