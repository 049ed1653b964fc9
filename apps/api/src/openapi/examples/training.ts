import type { Examples } from './example.js';

const UPDATE = {
  updateNumber: 3,
  stage: 'policy',
  planId: '01a21e00-f307-7f5c-8762-fa8b4beb20ee',
  epoch: 0,
  policyVersionIn: 2,
  policyVersionOut: 3,
  numEpisodes: 256,
  plannedAt: '2026-11-27T17:15:08.467000Z',
  appliedAt: '2026-11-27T17:15:09.526000Z',
  metrics: {
    'train/loss': -0.02322,
    'train/approximateKl': 6.282e-5,
    'train/clipFraction': 0,
  },
  weightsSha256: '2182fa1ddedb9c05f5aa9a205c24a7fdad92527b257b52d9bb5e0c8174eb52c3',
  engine: 'tensorflow',
};

/** Examples of updates and policies, and of a message of the live stream. */
export const TRAINING_EXAMPLES: Examples = {
  'GET /api/runs/{runId}/live': {
    response:
      'id: 42\nevent: update\ndata: {"time":1764263709526,"state":"applied","updateNumber":3,"policyVersionOut":3}\n\n',
  },
  'GET /api/runs/{runId}/updates': {
    response: {
      items: [UPDATE],
      nextCursor: 'WzNd',
    },
  },
  'GET /api/runs/{runId}/updates/{updateNumber}': {
    response: UPDATE,
  },
  'GET /api/runs/{runId}/updates/{updateNumber}/inputs': {
    response: {
      items: [
        {
          place: 0,
          episodeRunId: '01a21e00-8784-7c94-b680-2a37b88c45de',
          episodeId: '01a21e00-8784-8000-8000-033102ec11cf',
          groupId: '01a21e00-c547-7e56-b224-51e748be80eb',
          firstStep: 0,
          numSteps: 1,
          times: 1,
          numTokens: 1,
          weight: 1,
          advantageMean: -1.042,
          advantageDeviation: 0,
          advantageMin: -1.042,
          advantageMax: -1.042,
          share: 0.002,
          return: 0,
          success: false,
          age: 0,
          ratio: null,
        },
      ],
      nextCursor: 'WzEsInNoYXJlIiwiZGVzY2VuZGluZyIsIm51bGwiXQ',
    },
  },
  'GET /api/runs/{runId}/updates/{updateNumber}/inputs/{episodeId}/tokens': {
    response: {
      steps: [0],
      positions: [23],
      advantages: [-1.042],
      ratios: [0.9912],
      values: [0.04213],
      kls: [null],
      entropies: [1.383],
      teacherLogprobs: [null],
      clippedShares: [0],
    },
  },
  'GET /api/runs/{runId}/updates/{updateNumber}/lineage': {
    response: {
      sampledBy: [
        {
          runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
          policyVersion: 2,
          madeBy: 2,
          numEpisodes: 256,
        },
      ],
      numSampled: 256,
      fed: [{ runId: '01a21e00-8784-7c94-b680-2a37b88c45de', updateNumber: 4, numEpisodes: 256 }],
    },
  },
  'GET /api/runs/{runId}/updates/{updateNumber}/distributions': {
    response: {
      distributions: [
        {
          name: 'return',
          numEpisodes: 512,
          low: 0,
          high: 1,
          mean: 0.25,
          counts: [384, ...Array<number>(22).fill(0), 128],
        },
      ],
    },
  },
  'GET /api/runs/{runId}/policies': {
    response: {
      items: [
        {
          policyVersion: 3,
          parentVersion: 2,
          updateNumber: 3,
          weightsSha256: '2182fa1ddedb9c05f5aa9a205c24a7fdad92527b257b52d9bb5e0c8174eb52c3',
          weightsSizeBytes: 383000,
          modelHash: 'e9ac27a14d5f13020a39eec36e883f0058176f58184207351b62c0ab0b115220',
          location: '',
          publishedAt: '2026-11-27T17:15:09.526000Z',
        },
      ],
      nextCursor: 'WzNd',
    },
  },
  'GET /api/runs/{runId}/sampling-blocks': {
    response: {
      items: [
        {
          side: 'collector',
          reason: '2.5 samples of each group would be less than the 4 that the recipe wants',
          numInserted: 128,
          numSampled: 320,
          blockedAt: '2026-11-27T17:15:09.526000Z',
        },
      ],
      nextCursor: null,
    },
  },
  'GET /api/runs/{runId}/validations/tasks': {
    response: {
      items: [
        {
          taskId: '5f3a0c9be2714d86',
          environmentSeed: 8830696,
          task: { size: 4, holes: [5, 7] },
          first: {
            episodeId: '01a229b0-0dc5-8000-807a-c906f723cb88',
            policyVersion: 0,
            success: false,
            return: 0,
            numSteps: 4,
          },
          newest: {
            episodeId: '01a229b0-0dc5-8000-80f2-ca45e1a36592',
            policyVersion: 30,
            success: true,
            return: 1,
            numSteps: 6,
          },
        },
      ],
      nextCursor: null,
    },
  },
  'GET /api/runs/{runId}/validations': {
    response: {
      items: [
        {
          numTasks: 50,
          numEpisodes: 50,
          numSuccesses: 41,
          numUnknown: 0,
          successLow: 0.692,
          successHigh: 0.902,
          meanReturn: 0.79,
          policyVersion: 3,
          updateNumber: 3,
          split: 'validation',
          decoding: 'greedy',
          family: null,
          numFailed: 0,
          success: 0.82,
          passAtK: [],
          seconds: 1.6,
          validatedAt: '2026-11-27T17:15:09.526000Z',
        },
      ],
      nextCursor: null,
    },
  },
};
