import { describe, expect, it } from 'vitest';
import { EVERY_TERM } from '../testing/loss-options.js';
import { randomBatch, seededRandom } from '../testing/random-batch.js';
import { evaluateLoss } from './evaluate-loss.js';
import type { TokenColumns, TrainedTokens } from './evaluate-loss.js';
import type { LossOptions } from './loss-options.js';

const batch = randomBatch([6, 9, 4], { vocabSize: 7, actionShare: 0.6, seed: 3 });
const trained = trainedTokens();
const outputs = randomOutputs();

describe('evaluateLoss', () => {
  it('is the weighted sum of its terms', () => {
    // One token: w = 0.5, r = 1.2, log ratio = ln 1.1, A = 2, unclipped: ℓ = −2·1.1 = −2.2.
    // V = 1, G = 0.5, V_prox = 1: ½·0.25 = 0.125. k2 of d = 0.3: 0.045. H = 0.7.
    // 0.5·(1.2·(−2.2) + 0.5·0.125 + 0.1·0.045 − 0.01·0.7) = −1.29
    const oneToken = {
      tokenIds: Int32Array.of(0, 1),
      sequenceOffsets: Int32Array.of(0, 2),
      lossWeights: Float32Array.of(0, 0.5),
      advantages: Float32Array.of(9, 2),
      proximalLogprobs: Float32Array.of(9, -2),
      referenceLogprobs: Float32Array.of(9, -2 + Math.log(1.1) - 0.3),
      returns: Float32Array.of(9, 0.5),
      proximalValues: Float32Array.of(9, 1),
      importanceWeights: Float32Array.of(9, 1.2),
    };
    const { sums } = evaluateLoss(
      {
        logprobs: Float32Array.of(-2 + Math.log(1.1)),
        entropies: Float32Array.of(0.7),
        values: Float32Array.of(1),
      },
      oneToken,
      { positions: Int32Array.of(1), offsets: Int32Array.of(0, 1) },
      { ...EVERY_TERM, klEstimator: 'k2' },
    );
    expect(sums.loss).toBeCloseTo(-1.29, 5);
    expect(sums.policyLoss).toBeCloseTo(0.5 * 1.2 * -2.2, 5);
    expect(sums.valueLoss).toBeCloseTo(0.5 * 0.125, 6);
    expect(sums.kl).toBeCloseTo(0.045, 5);
    expect(sums.entropy).toBeCloseTo(0.7, 6);
    expect(sums.approximateKl).toBeCloseTo(0.1 - Math.log(1.1), 5);
    expect(sums.ratioMaxDeviation).toBeCloseTo(0.1, 5);
  });

  it('takes the ratio against a proximal policy on the way from the recorded one to the current one', () => {
    // Half of the way: log ratio ½·0.6; w = 0.5, A = −2 → 0.5·2·e^0.3. Without a gradient of the proximal one it is its own derivative.
    const tokens = {
      tokenIds: Int32Array.of(0, 1),
      sequenceOffsets: Int32Array.of(0, 2),
      lossWeights: Float32Array.of(0, 0.5),
      advantages: Float32Array.of(0, -2),
      proximalLogprobs: Float32Array.of(NaN, -2),
      proximalShares: Float32Array.of(0, 0.5),
    };
    const options = { ...EVERY_TERM, policyLossOptions: { dualClip: null } };
    const { sums, gradients } = evaluateLoss(
      { logprobs: Float32Array.of(-1.4), entropies: Float32Array.of(0), values: null },
      tokens,
      { positions: Int32Array.of(1), offsets: Int32Array.of(0, 1) },
      { ...options, entropyCoefficient: 0, klCoefficient: 0, valueCoefficient: 0 },
    );
    expect(sums.loss).toBeCloseTo(Math.exp(0.3), 6);
    expect(gradients.logprobs[0]).toBeCloseTo(Math.exp(0.3), 6);
  });

  const variants: [string, Partial<LossOptions>][] = [
    ['every term', {}],
    ['no clips', { policyLossOptions: { dualClip: null }, valueClip: null }],
    ['k1', { klEstimator: 'k1' }],
    ['k2', { klEstimator: 'k2' }],
    ['abs', { klEstimator: 'abs' }],
    ['imitation with a value loss', { policyLoss: 'crossEntropy', policyLossOptions: {} }],
  ];

  it.each(variants)('has the derivatives that finite differences give: %s', (_, change) => {
    const options = { ...EVERY_TERM, ...change };
    const { gradients } = evaluateLoss(outputs, batch, trained, options);
    for (const column of ['logprobs', 'entropies', 'values'] as const) {
      outputs[column]!.forEach((__, m) => {
        const expected = slope(column, m, options);
        expect(Math.abs(gradients[column]![m] - expected), `${column}[${m}]`).toBeLessThan(2e-4);
      });
    }
  });

  it('keeps the value of a straight-through KL and gives it the gradient of k2, c·w·(logπ − logπ_ref)', () => {
    const run = (change: Partial<LossOptions>) =>
      evaluateLoss(outputs, batch, trained, { ...EVERY_TERM, ...change });
    const [plain, through, none] = [run({}), run({ klStraightThrough: true }), run({ klCoefficient: 0 })];
    expect(through.sums).toEqual(plain.sums);
    trained.positions.forEach((n, m) => {
      const d = outputs.logprobs[m] - (batch.referenceLogprobs as Float32Array)[n];
      const expected = EVERY_TERM.klCoefficient * batch.lossWeights[n] * d;
      expect(through.gradients.logprobs[m] - none.gradients.logprobs[m]).toBeCloseTo(expected, 6);
    });
  });

  it('does not read the columns of tokens without a weight', () => {
    const poisoned = Object.fromEntries(
      Object.entries(batch).map(([name, column]) => [
        name,
        column instanceof Float32Array && name !== 'lossWeights'
          ? column.map((value, n) => (batch.lossWeights[n] === 0 ? NaN : value))
          : column,
      ]),
    ) as unknown as typeof batch;
    const { sums } = evaluateLoss(outputs, poisoned, trained, EVERY_TERM);
    expect(sums).toEqual(evaluateLoss(outputs, batch, trained, EVERY_TERM).sums);
  });

  it('refuses outputs that are not finite', () => {
    const broken = { ...outputs, logprobs: outputs.logprobs.map((value, m) => (m === 2 ? NaN : value)) };
    expect(() => evaluateLoss(broken, batch, trained, EVERY_TERM)).toThrow(/log π of a trained token is NaN/);
  });
});

/** Central difference; the step is large because the inputs are float32. */
function slope(column: keyof TokenColumns, m: number, options: LossOptions): number {
  const step = 1e-3;
  const at = (delta: number) => {
    const moved = Float32Array.from(outputs[column]!);
    moved[m] += delta;
    return {
      x: moved[m],
      loss: evaluateLoss({ ...outputs, [column]: moved }, batch, trained, options).sums.loss,
    };
  };
  const [above, below] = [at(step), at(-step)];
  return (above.loss - below.loss) / (above.x - below.x);
}

function trainedTokens(): TrainedTokens {
  const positions: number[] = [];
  const offsets = [0];
  for (let s = 0; s + 1 < batch.sequenceOffsets.length; s++) {
    for (let n = batch.sequenceOffsets[s]; n < batch.sequenceOffsets[s + 1]; n++) {
      if (batch.lossWeights[n] !== 0) positions.push(n);
    }
    offsets.push(positions.length);
  }
  return { positions: Int32Array.from(positions), offsets: Int32Array.from(offsets) };
}

function randomOutputs(): TokenColumns {
  const random = seededRandom(8);
  const column = (draw: () => number) => Float32Array.from(trained.positions, draw);
  return {
    logprobs: column(() => Math.log(1 / 7) + 0.8 * (random() - 0.5)),
    entropies: column(() => 1.5 * random()),
    values: column(() => 2 * random() - 1),
  };
}
