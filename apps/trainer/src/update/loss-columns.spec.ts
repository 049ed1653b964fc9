import { resolveRecipe } from '@retrace/config';
import type { TokenBatch } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { resampleEpisodes, updateColumns } from './loss-columns.js';

/* Two episodes of one sequence each: a prompt token, then two actions. The last action isn't trained. */
const tokens = {
  tokenIds: new Int32Array(6),
  sequenceOffsets: Int32Array.of(0, 3, 6),
  episodeSequenceOffsets: Int32Array.of(0, 1, 2),
  actionTokens: Int32Array.of(1, 2, 4, 5),
  episodeActionOffsets: Int32Array.of(0, 2, 4),
} as unknown as TokenBatch;
const batch = {
  tokens,
  groupIds: Int32Array.of(3, 3),
  sequenceActionOffsets: Int32Array.of(0, 2, 4),
  behaviorLogprobs: Float32Array.of(-1, -2, -3, -4),
  policyVersions: Int32Array.of(7, 6, 4, 9),
};
const trained = Uint8Array.of(1, 1, 1, 0);

function columns(assignments: readonly string[], weights: Float32Array | null = null) {
  return updateColumns(resolveRecipe('frozen-lake-grpo', { assignments }), {
    batch,
    trained,
    advantages: { advantages: Float32Array.of(1, 2, 3, 4), returns: null },
    proximal: {
      logprobs: new Float32Array(4),
      entropies: Float32Array.of(0.3, 0.1, 0.2, 9),
      values: null,
      sumSquaredProbabilities: null,
    },
    copies: Int32Array.of(0, 2),
    policyVersionIn: 7,
    referenceLogprobs: null,
    plan: { episodeGroups: null, groupWeights: null },
    correction: weights && { weights, keep: null },
  });
}

it('update columns: only the trained tokens of the highest entropy keep their weight, which is 1 without a correction', () => {
  const assignments = ['loss.topEntropyFraction=0.5'];
  // Entropies .3, .1 and .2: at or over the median .2.
  expect([...(columns(assignments).importanceWeights ?? [])]).toEqual([1, 0, 1, 0]);
  const weights = Float32Array.of(0.5, 2, 4, 0);
  expect([...(columns(assignments, weights).importanceWeights ?? [])]).toEqual([0.5, 0, 4, 0]);
  expect(columns([]).importanceWeights).toBeNull();
});

it('update columns: an interpolated proximal policy is n/(n + 1) of the way for a token n versions old', () => {
  const { proximalLogprobs, proximalShares } = columns([
    'loss.policyLoss=decoupledPpo',
    'loss.rolloutCorrection={"proximal":"interpolated"}',
  ]);
  expect(proximalLogprobs).toBe(batch.behaviorLogprobs);
  expect([...(proximalShares ?? [])]).toEqual([0, 0.5, 0.75, 0]);
  expect(columns([]).proximalShares).toBeNull();
});

it('update columns: every sequence of an episode is trained as often as the episode was drawn', () => {
  expect([...(columns([]).sequenceCopies ?? [])]).toEqual([0, 2]);
});

const scored = {
  totals: Float64Array.of(2, -1, NaN, 0, 5),
  episodesToTrain: Uint8Array.of(1, 1, 0, 1, 0),
};

it('resampling: draws as many episodes as are trained, by their weights, and none of the others', () => {
  const sums = new Float64Array(5);
  const numDraws = 4000;
  for (let seed = 0; seed < numDraws; seed++) {
    const copies = resampleEpisodes(scored, { rule: 'power', power: 2 }, seed);
    expect(copies.reduce((sum, count) => sum + count, 0)).toBe(3);
    copies.forEach((count, e) => {
      sums[e] += count;
    });
  }
  // Weights 4, 1 and 0 (that of the third is 1e-8): of 12,000 draws 9,600 and 2,400, standard deviation √(12000 · .8 · .2) = 44.
  expect(Math.abs(sums[0] - 9600)).toBeLessThan(4 * 44);
  expect(Math.abs(sums[1] - 2400)).toBeLessThan(4 * 44);
  expect([sums[2], sums[3], sums[4]]).toEqual([0, 0, 0]);
});

it('resampling: the same seed draws the same episodes', () => {
  const draw = (seed: number) => resampleEpisodes(scored, { rule: 'best' }, seed);
  expect(draw(3)).toEqual(draw(3));
  expect(new Set(Array.from({ length: 20 }, (_, seed) => draw(seed).join())).size).toBeGreaterThan(3);
});
