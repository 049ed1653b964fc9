import type { Examples } from './example.js';

const RUN_ID = '01a21e00-8784-7c94-b680-2a37b88c45de';
const PLAIN = '6a1f0c0e2f4b7d8899aabbccddeeff00112233445566778899aabbccddeeff00';
const SHAPED = 'b57b0307d8d58f4f67107f9e93d3da17490a482a745e10e6a9bf6678ec0398f1';

/** Examples of what is asked about rewards. */
export const REWARDS_EXAMPLES: Examples = {
  'GET /api/runs/{runId}/reward-versions': {
    response: {
      versions: [
        { version: SHAPED, name: 'with-length', namedAt: '2026-11-27T17:21:08.120000Z', numScored: 200 },
        { version: PLAIN, name: 'plain', namedAt: '2026-11-27T17:20:31.004000Z', numScored: 200 },
      ],
    },
  },
  'GET /api/runs/{runId}/reward-versions/{version}/audit': {
    response: {
      runId: RUN_ID,
      version: SHAPED,
      name: 'with-length',
      numEpisodes: 200,
      numWithTotal: 200,
      numWithSuccess: 200,
      stretches: Array.from({ length: 10 }, (_, i) => ({ numEpisodes: 20, success: (9 - i) / 10 })),
      values: [
        {
          kind: 'total',
          name: 'total',
          numEpisodes: 200,
          mean: 0.75,
          meanOfSuccesses: 1.1,
          meanOfFailures: 0.46,
          paysFailures: false,
          byStretch: Array.from({ length: 10 }, (_, i) => Number((0.84 - i / 50).toFixed(2))),
        },
        {
          kind: 'component',
          name: 'goal',
          numEpisodes: 200,
          mean: 0.45,
          meanOfSuccesses: 1,
          meanOfFailures: 0,
          paysFailures: false,
          byStretch: Array.from({ length: 10 }, (_, i) => (9 - i) / 10),
        },
        {
          kind: 'component',
          name: 'length',
          numEpisodes: 200,
          mean: 0.3,
          meanOfSuccesses: 0.1,
          meanOfFailures: 0.46,
          paysFailures: true,
          byStretch: Array.from({ length: 10 }, (_, i) => Number((0.03 + (i * 3) / 50).toFixed(2))),
        },
      ],
      numWindows: 1,
      hacked: [
        {
          kind: 'component',
          name: 'length',
          from: 0,
          to: 9,
          trend: 1,
          successTrend: -1,
          valueFrom: 0.09,
          valueTo: 0.51,
          successFrom: 0.8,
          successTo: 0.1,
        },
      ],
      paidFailures: 0,
      richestFailures: [
        {
          episodeId: '01a21e00-8c38-8b4c-b33e-56b1a8b3dbb4',
          total: 0.94,
          components: { goal: 0, length: 0.94 },
        },
      ],
      poorestSuccesses: [
        {
          episodeId: '01a21e00-9a10-8f2e-a1c4-0d6a51f0e7aa',
          total: 1.02,
          components: { goal: 1, length: 0.02 },
        },
      ],
    },
  },
  'GET /api/runs/{runId}/reward-versions/{version}/differences/{otherVersion}': {
    response: {
      runId: RUN_ID,
      versionA: PLAIN,
      versionB: SHAPED,
      nameA: 'plain',
      nameB: 'with-length',
      values: [
        {
          kind: 'total',
          name: 'total',
          numCompared: 200,
          numOnlyA: 0,
          numOnlyB: 0,
          numChanged: 188,
          meanA: 0.45,
          meanB: 0.62,
          meanAbsoluteChange: 0.31,
          maxAbsoluteChange: 0.94,
          spearman: 0.41,
          kendall: 0.33,
        },
      ],
      mostChanged: [
        {
          episodeId: '01a21e00-8c38-8b4c-b33e-56b1a8b3dbb4',
          groupId: '5d0c1a52-8d0e-8e55-9d6c-0a9a5f0c6e11',
          totalA: 0,
          totalB: 0.94,
        },
      ],
      numGroups: 25,
      numGroupsFlipped: 9,
      mostFlipped: [{ groupId: '5d0c1a52-8d0e-8e55-9d6c-0a9a5f0c6e11', numEpisodes: 8, numFlipped: 5 }],
    },
  },
};
