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
};

const WHAT_IF = {
  whatIfId: 'd5963328-4775-413f-9b40-720a6eedd261',
  runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
  status: 'finished',
  updateNumber: 1,
  toUpdate: 1,
  set: ['loss.clipHigh=0.1'],
  rewardVersion: null,
  askedAt: '2026-11-27T17:19:07.755Z',
  startedAt: '2026-11-27T17:19:07.755Z',
  endedAt: '2026-11-27T17:19:13.244Z',
  numCompared: 1,
  recomputing: null,
  failure: null,
};

/** Examples of updates, policies and what-ifs, and of a message of the live stream. */
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
        },
      ],
      nextCursor: 'WzFd',
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
  'GET /api/runs/{runId}/what-ifs': {
    response: {
      items: [WHAT_IF],
      nextCursor: null,
    },
  },
  'POST /api/runs/{runId}/what-ifs': {
    request: {
      updateNumber: 1,
      set: ['loss.clipHigh=0.1'],
    },
    response: {
      ...WHAT_IF,
      status: 'running',
      endedAt: null,
      numCompared: 0,
      updates: [],
    },
  },
  'GET /api/runs/{runId}/what-ifs/{whatIfId}': {
    response: {
      ...WHAT_IF,
      updates: [
        {
          updateNumber: 1,
          numEpisodes: 256,
          gradient: {
            cosine: 1.0,
            recordedNorm: 21.92,
            changedNorm: 21.92,
            layers: [
              {
                layer: 'embedding',
                cosine: 1,
                recordedNorm: 5.708,
                changedNorm: 5.708,
              },
            ],
          },
          metrics: [
            {
              name: 'train/loss',
              recorded: 1.119,
              changed: 1.124,
            },
            {
              name: 'train/policyLoss',
              recorded: -0.0008909,
              changed: 0.004856,
            },
          ],
          episodes: [
            {
              episodeId: '01a21e00-8784-8000-8000-033102ec11cf',
              groupId: '01a21e00-c547-7e56-b224-51e748be80eb',
              recordedReward: -0.1,
              changedReward: -0.1,
              recordedAdvantage: -1.042,
              changedAdvantage: -1.042,
              recordedTokens: 1,
              changedTokens: 1,
            },
          ],
          tokens: {
            numTokens: 256,
            numCountedOnce: 0,
            flippedFraction: 0,
            meanAdvantageDifference: 0,
            maxAdvantageDifference: 0,
            meanWeightDifference: 0,
            maxWeightDifference: 0,
          },
          everyToken: null,
          sameWeights: true,
        },
      ],
    },
  },
  'PATCH /api/runs/{runId}/what-ifs/{whatIfId}': {
    request: {
      status: 'cancelled',
    },
    response: {
      ...WHAT_IF,
      status: 'cancelled',
      numCompared: 0,
      updates: [],
    },
  },
};
