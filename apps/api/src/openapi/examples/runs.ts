import type { Examples } from './example.js';

const RUN = {
  runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
  name: 'bandit-ppo',
  kind: 'trained',
  tags: [],
  starred: false,
  archived: false,
  environment: 'bandit',
  seed: 1,
  recipeHash: 'b57b0307d8d58f4f67107f9e93d3da17490a482a745e10e6a9bf6678ec0398f1',
  startedAt: '2026-11-27T17:14:40.900000Z',
  endedAt: '2026-11-27T17:15:09.550000Z',
  status: 'finished',
  lastActivityAt: '2026-11-27T17:15:09.550000Z',
  successCurve: [0.05078, 0.02344, 0.04688],
  latest: {
    'rollout/return': -0.06953,
    'rollout/success': 0.04688,
    'train/loss': -0.02322,
  },
  policyVersion: 3,
  progress: { updateNumber: 3, numUpdates: 3, secondsLeft: null },
};

/** Examples of runs, and of what is said about them. */
export const RUNS_EXAMPLES: Examples = {
  'GET /api/runs': {
    response: {
      items: [{ ...RUN, recorded: null }],
      nextCursor: null,
    },
  },
  'GET /api/runs/{runId}': {
    response: {
      ...RUN,
      recipe: {
        name: 'bandit-ppo',
        environment: 'bandit',
        seed: 1,
        numUpdates: 3,
        loss: {
          policyLoss: 'ppo',
          policyLossOptions: {},
          clipLow: 0.2,
          clipHigh: 0.2,
          dualClip: null,
          aggregation: 'tokenMean',
          horizon: null,
          entropyCoefficient: 0.01,
          valueCoefficient: 0.5,
          valueClip: null,
          kl: { coefficient: 0, in: 'loss', estimator: 'k3', straightThrough: false, adaptive: null },
          rolloutCorrection: null,
        },
        optimizer: {
          learningRate: 0.003,
          beta1: 0.9,
          beta2: 0.99,
          epsilon: 1e-8,
          weightDecay: 0,
          maxGradientNorm: 1,
          warmupFraction: 0.02,
          decayStartFraction: 0.3,
          finalFraction: 0.1,
          epochs: 2,
          miniBatchActionTokens: 128,
          maxTokensPerMicroBatch: 16384,
          dataParallel: 1,
        },
      },
      baselines: [
        {
          name: 'expert',
          success: 1,
          numEpisodes: 1000,
          split: 'validation',
        },
        {
          name: 'random',
          success: 0.517,
          numEpisodes: 1000,
          split: 'validation',
        },
        {
          name: 'random-vocabulary',
          success: 0.053,
          numEpisodes: 1000,
          split: 'validation',
        },
      ],
      codeVersion: '0.1.0+ae9c05204688',
      metadata: null,
      notes: '',
    },
  },
  'GET /api/runs/{runId}/recipe-differences/{otherRunId}': {
    response: {
      fields: [
        {
          field: 'seed',
          first: 1,
          second: 9,
        },
        {
          field: 'numUpdates',
          first: 3,
          second: 2,
        },
      ],
    },
  },
  'GET /api/runs/{runId}/totals': {
    response: {
      numEpisodes: 768,
      numOngoing: 0,
      numSuccesses: 31,
      numFailures: 737,
      meanReturn: -0.07174,
      numSteps: 768,
      inputTokens: null,
      outputTokens: null,
      costUsd: null,
    },
  },
  'GET /api/runs/{runId}/metrics': {
    response: {
      series: [
        {
          name: 'rollout/return',
          source: 'collector',
          steps: [0, 1, 2],
          values: [-0.0707, -0.075, -0.06953],
          times: [1795799699895, 1795799705481, 1795799708315],
        },
        {
          name: 'train/loss',
          source: 'trainer',
          steps: [1, 2, 3],
          values: [1.119, 0.04306, -0.02322],
          times: [1795799704839, 1795799708044, 1795799709526],
        },
      ],
    },
  },
  'GET /api/runs/{runId}/warnings': {
    response: {
      items: [
        {
          source: 'trainer',
          severity: 'alarm',
          step: 3,
          message: 'update 3 learned from nothing: every advantage is 0',
          numTimes: 1,
          rule: 'trainedOnNothing',
          advice: 'look at the rewards of these episodes',
          episodeIds: ['01a21e00-8784-8000-800b-fe8667fbbde5'],
          raisedAt: '2026-11-27T17:15:09.526000Z',
        },
      ],
      nextCursor: null,
    },
  },
  'GET /api/runs/{runId}/retention': {
    response: {
      maxAgeDays: null,
      maxEpisodes: null,
    },
  },
  'POST /api/runs/{runId}/retention': {
    request: {
      maxAgeDays: 30,
      maxEpisodes: null,
    },
    response: {
      maxAgeDays: 30,
      maxEpisodes: null,
    },
  },
};
