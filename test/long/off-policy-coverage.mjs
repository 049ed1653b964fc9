/**
 * Tests off-policy estimators on a small problem with a known true value, over 1,000 seeds per case.
 *
 * Easy cases must never be refused: the mean estimate must be the truth, and the 95 % intervals must contain it as often as they claim.
 * For groups it also reports how much too narrow the intervals are when episodes are treated as independent. Models are fitted on
 * other groups than those that they evaluate. Hopeless cases must always be refused.
 *
 *   npm run test:long -- off-policy-coverage [-- --seeds 1000]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  OFF_POLICY_ESTIMATORS,
  crossFitLinearQ,
  evaluateOffPolicy,
  fittedQEvaluation,
} from '@retrace/algorithms';
import { seededRandom } from '../../libs/algorithms/dist/testing/random.js';
import { sampleTabular, trueValue } from '../../libs/algorithms/dist/testing/tabular-mdp.js';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1000' } } });
const NUM_SEEDS = Number(values.seeds);
const GAMMA = 0.9;
const NEAR = { behavior: [0.5, 0.5], candidate: [0.8, 0.3] };
const BOOTSTRAP = { numResamples: 400, level: 0.95 };
/** Lowest allowed coverage: the percentile bootstrap covers a little less on skewed weights; three standard errors below .93. */
const LEAST_COVERAGE = 0.93 - 3 * Math.sqrt((0.93 * 0.07) / NUM_SEEDS);

const EASY = [
  { name: '200 episodes', numEpisodes: 200, policies: NEAR },
  // Rewards within a group are all higher or all lower, as with easy and hard tasks.
  { name: '60 groups of 4', numEpisodes: 240, policies: { ...NEAR, groupSize: 4, groupEffect: 1 } },
];

/** Records logprobs half a nat per decision too high, as if the policy had acted with less probability than the log says. */
const misrecorded = ({ behaviorLogprobs, ...episodes }) => ({
  ...episodes,
  behaviorLogprobs: behaviorLogprobs.map((logprob) => logprob - 0.5),
});
/** Joins twenty episodes into one of sixty decisions, so that weights multiply. */
const joined = (episodes) => ({
  ...episodes,
  groupIds: null,
  offsets: episodes.offsets.filter((_, e) => e % 20 === 0),
});
const HOPELESS = [
  { name: 'too few episodes', numEpisodes: 20, policies: { ...NEAR, candidate: NEAR.behavior } },
  {
    name: 'a candidate that does the opposite',
    numEpisodes: 200,
    policies: { behavior: [0.02, 0.02], candidate: [0.98, 0.98] },
  },
  {
    name: 'actions that the behavior never takes',
    numEpisodes: 200,
    policies: { behavior: [0, 0], candidate: [0.5, 0.5] },
  },
  {
    name: 'sixty decisions an episode',
    numEpisodes: 4000,
    policies: { behavior: [0.5, 0.5], candidate: [0.9, 0.9] },
    change: joined,
  },
  { name: 'four groups', numEpisodes: 200, policies: { ...NEAR, candidate: NEAR.behavior, groupSize: 50 } },
  { name: 'logprobs that the behavior had not', numEpisodes: 200, policies: NEAR, change: misrecorded },
];

const figures = [];
let passed = true;
const report = (name, value, unit = '') => {
  figures.push({ name, value, unit });
  console.log(`${name.padEnd(76)} ${value.toFixed(4)} ${unit}`);
};

function evaluateEasy({ numEpisodes, policies }, seed) {
  const { episodes, transitions } = sampleTabular(numEpisodes, policies, seededRandom(seed));
  const bootstrap = { ...BOOTSTRAP, seed };
  const logged = { ...episodes, ...crossFitLinearQ(transitions, { gamma: GAMMA }) };
  const options = { estimators: OFF_POLICY_ESTIMATORS, gamma: GAMMA, bootstrap };
  const evaluation = evaluateOffPolicy(logged, options);
  if (evaluation.kind === 'refused') return null;
  const fitted = fittedQEvaluation(transitions, { gamma: GAMMA, bootstrap });
  const estimates = [...evaluation.estimates, { estimator: 'fittedQ', ...fitted }];
  if (policies.groupSize === undefined) return estimates;
  const oneByOne = evaluateOffPolicy(
    { ...logged, groupIds: null },
    { ...options, estimators: ['perDecision'] },
  );
  return [...estimates, { ...oneByOne.estimates[0], estimator: 'perDecision, episodes one by one' }];
}

const truth = trueValue(NEAR.candidate, GAMMA);
report('true value', truth);
for (const easy of EASY) {
  const found = new Map();
  let numRefused = 0;
  for (let seed = 0; seed < NUM_SEEDS; seed++) {
    const estimates = evaluateEasy(easy, seed);
    if (estimates === null) numRefused++;
    for (const { estimator, value, interval } of estimates ?? []) {
      const list = found.get(estimator) ?? [];
      list.push({ value, covers: interval.low <= truth && truth <= interval.high });
      found.set(estimator, list);
    }
  }
  passed &&= numRefused === 0;
  report(`${easy.name}: refused`, numRefused, `of ${NUM_SEEDS}`);
  for (const [estimator, results] of found) {
    const mean = results.reduce((sum, { value }) => sum + value, 0) / results.length;
    const deviation = Math.sqrt(
      results.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / (results.length - 1),
    );
    const coverage = results.filter(({ covers }) => covers).length / results.length;
    const bias = (mean - truth) / (deviation / Math.sqrt(results.length));
    const isCompared = estimator.includes('one by one');
    passed &&= isCompared ? coverage < LEAST_COVERAGE : Math.abs(bias) < 4 && coverage >= LEAST_COVERAGE;
    report(`${easy.name}, ${estimator}: bias`, bias, 'standard errors');
    report(`${easy.name}, ${estimator}: standard deviation`, deviation);
    report(`${easy.name}, ${estimator}: coverage of 95 % intervals`, 100 * coverage, '%');
  }
}
for (const { name, numEpisodes, policies, change = (episodes) => episodes } of HOPELESS) {
  let numRefused = 0;
  for (let seed = 0; seed < NUM_SEEDS; seed++) {
    const { episodes } = sampleTabular(numEpisodes, policies, seededRandom(seed));
    const evaluation = evaluateOffPolicy(change(episodes), {
      estimators: ['perDecision'],
      gamma: GAMMA,
      bootstrap: { numResamples: 2, level: 0.95, seed },
    });
    if (evaluation.kind === 'refused') numRefused++;
  }
  passed &&= numRefused === NUM_SEEDS;
  report(`hopeless, ${name}: refused`, numRefused, `of ${NUM_SEEDS}`);
}

const { RETRACE_RESULT_FILE: resultFile } = process.env;
if (resultFile !== undefined) {
  const title = `Off-policy evaluation over ${NUM_SEEDS} seeds a case`;
  writeFileSync(resultFile, JSON.stringify({ title, figures }));
}
process.exitCode = passed ? 0 : 1;
