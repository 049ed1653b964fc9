import { describe, expect, it } from 'vitest';
import { evaluateOffPolicy, type LoggedEpisodes } from '../index.js';
import { seededRandom } from '../testing/random.js';

const NUM_EPISODES = 768;
/** Of the normal log weights; some 100 effective episodes of 768. */
const DEVIATION = Math.sqrt(Math.log(NUM_EPISODES / 70));
/** Low enough that those of the candidate stay below 0. */
const BEHAVIOR = -20;
const successChance = (z: number) => 1 / (1 + Math.exp(0.5 - z));

/** Episodes of one decision with log-normal weights of mean 1, in which what the candidate prefers succeeds more often. */
function heavyTailed(seed: number): LoggedEpisodes {
  const random = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const z = Float64Array.from({ length: NUM_EPISODES }, normal);
  return {
    offsets: Int32Array.from({ length: NUM_EPISODES + 1 }, (_, e) => e),
    rewards: Float32Array.from(z, (one) => Number(random() < successChance(one))),
    candidateLogprobs: Float32Array.from(z, (one) => DEVIATION * one - DEVIATION ** 2 / 2 + BEHAVIOR),
    behaviorLogprobs: new Float32Array(NUM_EPISODES).fill(BEHAVIOR),
  };
}

/** E[w·G]: weighting a normal by exp(σz − σ²/2) moves its mean to σ; by Simpson's rule over ±8 deviations. */
function trueValue(): number {
  const n = 4000;
  const width = 16 / n;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const z = -8 + i * width;
    const share = i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2;
    sum += share * Math.exp((-z * z) / 2) * successChance(z + DEVIATION);
  }
  return (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}

describe('an estimate that is not divided by the sum of the weights', () => {
  it('has an interval that holds the true value as often as it says, with weights whose tail the sample mostly lacks', () => {
    const truth = trueValue();
    let [numEstimated, numCovering] = [0, 0];
    for (let seed = 0; seed < 200; seed++) {
      const evaluation = evaluateOffPolicy(heavyTailed(seed), {
        estimators: ['importanceSampling'],
        gamma: 1,
        bootstrap: { numResamples: 200, level: 0.95, seed },
      });
      if (evaluation.kind === 'refused') continue;
      const { low, high } = evaluation.estimates[0].interval;
      numEstimated++;
      numCovering += Number(low <= truth && truth <= high);
    }
    expect(numEstimated).toBeGreaterThan(150);
    // The bootstrap alone: .91.
    expect(numCovering / numEstimated).toBeGreaterThan(0.95);
  });
});
