import { resolveRecipe } from '@retrace/config';
import type { TokenBatch } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { updateColumns } from './update-columns.js';

/* Two episodes of one sequence each: a prompt token, then two actions. The last action isn't trained. */
const batch = {
  tokenIds: new Int32Array(6),
  sequenceOffsets: Int32Array.of(0, 3, 6),
  episodeSequenceOffsets: Int32Array.of(0, 1, 2),
  actionTokens: Int32Array.of(1, 2, 4, 5),
  behaviorLogprobs: Float32Array.of(0, -1, -2, 0, -3, -4),
  policyVersions: Int32Array.of(0, 7, 6, 0, 4, 9),
} as unknown as TokenBatch;
const trained = Uint8Array.of(0, 1, 1, 0, 1, 0);

function columns(assignments: readonly string[], weights: Float32Array | null = null) {
  return updateColumns(resolveRecipe('frozen-lake-grpo', { assignments }), {
    read: { batch, groupIds: Int32Array.of(3, 3) },
    trained,
    credit: { advantages: Float32Array.of(1, 2, 3, 4), returns: null },
    proximal: {
      logprobs: new Float32Array(6),
      entropies: Float32Array.of(9, 0.3, 0.1, 9, 0.2, 9),
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
  expect([...(columns(assignments).importanceWeights ?? [])]).toEqual([0, 1, 0, 0, 1, 0]);
  const weights = Float32Array.of(0, 0.5, 2, 0, 4, 0);
  expect([...(columns(assignments, weights).importanceWeights ?? [])]).toEqual([0, 0.5, 0, 0, 4, 0]);
  expect(columns([]).importanceWeights).toBeNull();
});

it('update columns: an interpolated proximal policy is n/(n + 1) of the way for a token n versions old', () => {
  const { proximalLogprobs, proximalShares } = columns([
    'loss.policyLoss=decoupledPpo',
    'loss.rolloutCorrection={"proximal":"interpolated"}',
  ]);
  expect(proximalLogprobs).toBe(batch.behaviorLogprobs);
  expect([...(proximalShares ?? [])]).toEqual([0, 0, 0.5, 0, 0.75, 0]);
  expect(columns([]).proximalShares).toBeNull();
});

it('update columns: every sequence of an episode is trained as often as the episode was drawn', () => {
  expect([...(columns([]).sequenceCopies ?? [])]).toEqual([0, 2]);
});
