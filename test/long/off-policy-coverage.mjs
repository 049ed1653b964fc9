/**
 * Off-policy estimators on a small problem whose true value is known: over 1,000 seeds, is the mean estimate the truth, and do
 * the 95 % intervals hold it as often as they say? Each seed is 200 episodes of a uniform behavior policy.
 *
 *   npm run test:long -- off-policy-coverage
 */
import { writeFileSync } from 'node:fs';
import {
  OFF_POLICY_ESTIMATORS,
  crossFitLinearQ,
  evaluateOffPolicy,
  fittedQEvaluation,
} from '@retrace/algorithms';
import { seededRandom } from '../../libs/algorithms/dist/testing/random.js';
import { sampleTabular, trueValue } from '../../libs/algorithms/dist/testing/tabular-mdp.js';

const NUM_SEEDS = 1000;
const NUM_EPISODES = 200;
const GAMMA = 0.9;
const POLICIES = { behavior: [0.5, 0.5], candidate: [0.8, 0.3] };
const BOOTSTRAP = { numResamples: 400, level: 0.95 };
/** Percentile bootstrap is a little short on skewed weights: allowed coverage, with three standard errors of 1,000 seeds below .93. */
const LEAST_COVERAGE = 0.93 - 3 * Math.sqrt((0.93 * 0.07) / NUM_SEEDS);

const truth = trueValue(POLICIES.candidate, GAMMA);
const found = new Map();
for (let seed = 0; seed < NUM_SEEDS; seed++) {
  const { episodes, transitions } = sampleTabular(NUM_EPISODES, POLICIES, seededRandom(seed));
  const bootstrap = { ...BOOTSTRAP, seed };
  const logged = { ...episodes, ...crossFitLinearQ(transitions, 5, { gamma: GAMMA }) };
  const evaluation = evaluateOffPolicy(logged, {
    estimators: OFF_POLICY_ESTIMATORS,
    gamma: GAMMA,
    bootstrap,
  });
  if (evaluation.kind === 'refused') throw new Error(`seed ${String(seed)}: ${evaluation.reason}`);
  const fitted = fittedQEvaluation(transitions, { gamma: GAMMA, bootstrap });
  for (const { estimator, value, interval } of [
    ...evaluation.estimates,
    { estimator: 'fittedQ', ...fitted },
  ]) {
    const list = found.get(estimator) ?? [];
    list.push({ value, covers: interval.low <= truth && truth <= interval.high });
    found.set(estimator, list);
  }
}

const figures = [{ name: 'true value', value: truth, unit: '' }];
let passed = true;
for (const [estimator, results] of found) {
  const mean = results.reduce((sum, { value }) => sum + value, 0) / NUM_SEEDS;
  const deviation = Math.sqrt(
    results.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / (NUM_SEEDS - 1),
  );
  const coverage = results.filter(({ covers }) => covers).length / NUM_SEEDS;
  const bias = (mean - truth) / (deviation / Math.sqrt(NUM_SEEDS));
  passed &&= Math.abs(bias) < 4 && coverage >= LEAST_COVERAGE;
  figures.push({ name: `${estimator}: mean estimate`, value: mean, unit: '' });
  figures.push({ name: `${estimator}: bias`, value: bias, unit: 'standard errors' });
  figures.push({ name: `${estimator}: standard deviation`, value: deviation, unit: '' });
  figures.push({ name: `${estimator}: coverage of 95 % intervals`, value: 100 * coverage, unit: '%' });
}
for (const { name, value, unit } of figures) console.log(`${name.padEnd(60)} ${value.toFixed(4)} ${unit}`);

const { RETRACE_RESULT_FILE: resultFile } = process.env;
if (resultFile !== undefined) {
  const title = `Off-policy evaluation over ${String(NUM_SEEDS)} seeds of ${String(NUM_EPISODES)} episodes`;
  writeFileSync(resultFile, JSON.stringify({ title, figures }));
}
process.exitCode = passed ? 0 : 1;
