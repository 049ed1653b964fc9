import type { TrainingBatch } from '@retrace/policy';
import { expect, it } from 'vitest';
import type { StepLoss, UpdateEngine } from '../../engine/update-engine.js';
import { makePreferenceSteps, type PreferenceStepOptions } from './preference-steps.js';

/*
 * Five episodes; token n has id n. Each sequence begins with a token of its prompt:
 *
 *   episode     0              1        2        3              4
 *   sequences   0 1 2 | 3 4    5 6      7 8      9 10 11 12     13 14 15
 *   actions       1 2     4      6        8        10 11 12        14 15
 */
const ACTIONS = [[1, 2, 4], [6], [8], [10, 11, 12], [14, 15]];
const batch = {
  tokenIds: Int32Array.from({ length: 16 }, (_, n) => n),
  sequenceOffsets: Int32Array.of(0, 3, 5, 7, 9, 13, 16),
  episodeSequenceOffsets: Int32Array.of(0, 2, 3, 4, 5, 6),
  episodeActionOffsets: Int32Array.of(0, 3, 4, 5, 8, 10),
  actionTokens: Int32Array.from(ACTIONS.flat()),
};
const pairs = { chosen: Int32Array.of(0, 4), rejected: Int32Array.of(3, 1) };
const isPaired = (n: number) => ACTIONS.some((tokens, e) => e !== 2 && tokens.includes(n));
const trained = Uint8Array.from(batch.actionTokens, (n) => Number(isPaired(n)));
const logprobOf = (token: number) => -0.3 - 0.1 * (token % 7);
const referenceOf = (token: number) => -0.5 - 0.05 * (token % 5);

/** Derivatives of the token loss Σ w·(−A·logπ) by the logprob of each token, by id. */
const derivatives = ({ tokenIds, lossWeights, advantages }: TrainingBatch) =>
  new Map([...tokenIds].map((token, n) => [token, -lossWeights[n] * (advantages?.[n] ?? NaN)]));

async function accumulated(miniBatchActionTokens: number) {
  const batches: TrainingBatch[] = [];
  const terms = {
    loss: 0,
    policyLoss: 0,
    valueLoss: 0,
    entropy: 0,
    kl: 0,
    clipFraction: 0,
    valueClipFraction: 0,
    distillationLoss: 0,
  };
  const engine: Pick<UpdateEngine, 'evaluate' | 'accumulate' | 'step'> = {
    evaluate: ({ tokenIds }, { mask }) =>
      Promise.resolve({
        logprobs: Float32Array.from(tokenIds, (token, n) => (mask[n] === 1 ? logprobOf(token) : NaN)),
        entropies: new Float32Array(tokenIds.length),
        values: null,
        sumSquaredProbabilities: null,
      }),
    accumulate: (given) => {
      batches.push(given);
      return Promise.resolve({ ...terms, approximateKl: 0, ratioMaxDeviation: 0, numTokens: 1 });
    },
    step: () => Promise.resolve({ isApplied: true, gradientNorm: 1, criticGradientNorm: null }),
  };
  const options: PreferenceStepOptions = {
    learningRate: 0.1,
    seed: 1,
    preference: { loss: 'dpo', beta: 0.5 },
    tokenLoss: { temperature: 1 } as StepLoss,
    optimizer: { epochs: 1, miniBatchActionTokens, maxGradientNorm: 1 },
  };
  const referenceLogprobs = Float32Array.from(batch.actionTokens, (n) =>
    isPaired(n) ? referenceOf(n) : NaN,
  );
  const tokens = { batch, trained, referenceLogprobs, pairs };
  return { batches, outcome: await makePreferenceSteps(engine, tokens, options) };
}

/** h of a pair: Σ(logπ − logπ_ref) over the chosen episode less that over the rejected one. */
const difference = (pair: number) => {
  const gain = (episode: number) =>
    ACTIONS[episode].reduce((sum, token) => sum + logprobOf(token) - referenceOf(token), 0);
  return gain(pairs.chosen[pair]) - gain(pairs.rejected[pair]);
};

it.each([
  [100, 1],
  [4, 2],
])(
  'steps by preference: give every token of a pair the derivative of its pair, in mini-batches of %d tokens',
  async (miniBatchActionTokens, numBatches) => {
    const { batches, outcome } = await accumulated(miniBatchActionTokens);
    expect(batches).toHaveLength(numBatches);
    const all = new Map(batches.flatMap((given) => [...derivatives(given)]));
    const numPairs = 2 / numBatches;
    for (const pair of [0, 1]) {
      // dℓ/ds = ∓β·σ(−βh), and the loss is a mean over the pairs of the mini-batch.
      const slope = 0.5 / (1 + Math.exp(0.5 * difference(pair))) / numPairs;
      for (const token of ACTIONS[pairs.chosen[pair]]) expect(all.get(token)).toBeCloseTo(-slope, 6);
      for (const token of ACTIONS[pairs.rejected[pair]]) expect(all.get(token)).toBeCloseTo(slope, 6);
    }
    expect(all.has(8)).toBe(false);
    for (const prompt of [0, 3, 5, 9, 13]) expect(all.get(prompt)).toBeCloseTo(0, 12);
    const losses = [0, 1].map((pair) => Math.log(1 + Math.exp(-0.5 * difference(pair))));
    expect(outcome.loss).toBeCloseTo((losses[0] + losses[1]) / 2, 6);
    expect(outcome.margin).toBeCloseTo((0.5 * (difference(0) + difference(1))) / 2, 6);
    expect(outcome.accuracy).toBe([0, 1].filter((pair) => difference(pair) > 0).length / 2);
    expect(outcome.numOptimizerSteps).toBe(numBatches);
  },
);
