import type { Examples } from './example.js';

const REPLAY = {
  replayId: '0b5c8a39-5a0e-4b5a-9a1e-2c6c1d2f7b10',
  runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
  status: 'finished',
  updateNumber: 3,
  askedAt: '2026-11-28T11:19:07.755Z',
  startedAt: '2026-11-28T11:19:07.755Z',
  endedAt: '2026-11-28T11:19:09.244Z',
  recomputing: null,
  failure: null,
  result: {
    updateNumber: 3,
    numEpisodes: 256,
    isReproduced: true,
    lossDifference: 0,
    sameWeights: true,
    sameTokens: null,
    engine: null,
    metrics: [{ name: 'train/loss', recorded: -0.02322, replayed: -0.02322 }],
    steps: [
      {
        step: 1,
        recordedLoss: -0.02322,
        replayedLoss: -0.02322,
        recordedGradientNorm: 0.4127,
        replayedGradientNorm: 0.4127,
      },
    ],
    firstDifferingStep: null,
    beganAfter: 2,
    firstInexact: null,
  },
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

/** Examples of replays, what-ifs and batches. */
export const UPDATE_QUESTION_EXAMPLES: Examples = {
  'POST /api/runs/{runId}/batches': {
    request: { groups: 64, order: 'newest', set: ['advantage.options.lambda=0.9'] },
  },
  'POST /api/runs/{runId}/replays': {
    request: { updateNumber: 3 },
    response: { ...REPLAY, status: 'running', endedAt: null, result: null },
  },
  'GET /api/runs/{runId}/replays/{replayId}': { response: REPLAY },
  'PATCH /api/runs/{runId}/replays/{replayId}': {
    request: { status: 'cancelled' },
    response: { ...REPLAY, status: 'cancelled', result: null },
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
