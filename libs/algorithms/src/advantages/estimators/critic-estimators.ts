import { flag, fraction, positive } from '../../registry/index.js';
import { biLevelGae } from '../bi-level-gae.js';
import { defineAdvantageEstimator, requiredInput } from '../estimator.js';
import { gae } from '../gae.js';
import { retrace } from '../retrace.js';
import { vtrace } from '../vtrace.js';
import { whiten } from '../whiten.js';

/** Estimators that read a critic. Importing this file registers them. */

const discounting = { gamma: fraction(1), lambda: fraction(1), whiten: flag(true) };

defineAdvantageEstimator({
  name: 'gae',
  source: 'Schulman et al., arXiv:1506.02438, eq. 11–16',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: false,
  requires: ['values'],
  options: discounting,
  compute(batch, { gamma, lambda, whiten: whitens }) {
    const { advantages, returns } = gae({ ...batch, values: requiredInput(batch, 'values'), gamma, lambda });
    return { advantages: whitens ? whiten(advantages) : advantages, returns, statistics: {} };
  },
});

defineAdvantageEstimator({
  name: 'biLevelGae',
  source: 'RAGEN, arXiv:2504.20073',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: false,
  requires: ['values', 'episodeSteps', 'stepOffsets'],
  options: { turnGamma: fraction(1), ...discounting },
  compute(batch, { whiten: whitens, ...options }) {
    const { advantages, returns } = biLevelGae({
      ...batch,
      ...options,
      values: requiredInput(batch, 'values'),
      episodeSteps: requiredInput(batch, 'episodeSteps'),
      stepOffsets: requiredInput(batch, 'stepOffsets'),
    });
    return { advantages: whitens ? whiten(advantages) : advantages, returns, statistics: {} };
  },
});

defineAdvantageEstimator({
  name: 'vtrace',
  source: 'Espeholt et al., arXiv:1802.01561, eq. 1',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: true,
  requires: ['values', 'proximalLogprobs', 'behaviorLogprobs'],
  options: {
    gamma: fraction(1),
    lambda: fraction(1),
    rhoMax: positive(1),
    traceMax: positive(1),
    policyRhoMax: positive(1),
  },
  compute: (batch, options) => ({
    ...vtrace({
      ...batch,
      ...options,
      values: requiredInput(batch, 'values'),
      proximalLogprobs: requiredInput(batch, 'proximalLogprobs'),
      behaviorLogprobs: requiredInput(batch, 'behaviorLogprobs'),
    }),
    statistics: {},
  }),
});

defineAdvantageEstimator({
  name: 'retrace',
  source: 'Munos et al., arXiv:1606.02647, eq. 3–4',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: true,
  requires: ['qValues', 'expectedQValues', 'proximalLogprobs', 'behaviorLogprobs'],
  options: { gamma: fraction(1), lambda: fraction(1) },
  compute: (batch, options) => ({
    ...retrace({
      ...batch,
      ...options,
      qValues: requiredInput(batch, 'qValues'),
      expectedQValues: requiredInput(batch, 'expectedQValues'),
      proximalLogprobs: requiredInput(batch, 'proximalLogprobs'),
      behaviorLogprobs: requiredInput(batch, 'behaviorLogprobs'),
    }),
    statistics: {},
  }),
});
