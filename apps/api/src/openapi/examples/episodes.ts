import type { Examples } from './example.js';

const EPISODE = {
  episodeId: '01a21e00-8784-8000-800b-fe8667fbbde5',
  externalId: '',
  tags: [],
  groupId: '01a21e00-ee71-7f17-a38a-4e33bc9f1cac',
  groupMember: 0,
  environment: 'bandit',
  split: 'train',
  agent: 'policy',
  environmentSeed: 4284049890,
  startedAt: '2026-11-27T17:15:07.467000Z',
  endedAt: '2026-11-27T17:15:07.941000Z',
  sealed: true,
  endReason: 'terminated',
  success: false,
  return: -0.1,
  numSteps: 1,
  numTokens: 6,
  numActionTokens: 1,
  policyVersionMin: 2,
  policyVersionMax: 2,
};

const STEPS = [
  {
    step: 0,
    occurredAt: '2026-11-27T17:15:07.941000Z',
    observation: 'choose volcano or garden',
    action: 'comet',
    parsedAction: 'comet',
    actionValid: false,
    anchor: 'volcano|garden',
    reward: -0.1,
    terminated: true,
    truncated: false,
    info: null,
    keptPrefixTokens: 0,
    temperature: 1,
    greedy: false,
    engine: 'retrace tensorflow',
    model: 'bandit-ppo',
    generationMs: 147.8,
    environmentMs: 0.005414,
    untrainable: '',
    rewards: [
      {
        name: 'invalidAction',
        value: -0.1,
      },
    ],
    messages: null,
    usage: null,
    tokens: {
      ids: [2, 8, 3, 16, 1, 6],
      texts: ['choose', 'volcano', 'or', 'garden', '<end>', 'comet'],
      actionMask: [0, 0, 0, 0, 0, 1],
      logprobs: [0, 0, 0, 0, 0, -3.289],
      entropies: [0, 0, 0, 0, 0, 2.938],
      policyVersions: [2, 2, 2, 2, 2, 2],
    },
  },
];

const DELETED = { numEpisodes: 1, numRows: 3, numReleased: 2 };

const DATASET = {
  name: 'solved',
  format: 'sft',
  fileFormat: 'jsonl',
  contentHash: '6064a328847de6861fa001c7c954b44e75ff4cf59a71e5b0dbc5f432d5c6e3b3',
  numEpisodes: 20,
  numRows: 20,
  createdAt: '2026-11-27T17:15:42.694000Z',
};

/** Examples of episodes and data sets. */
export const EPISODES_EXAMPLES: Examples = {
  'GET /api/runs/{runId}/episodes': {
    response: {
      items: [EPISODE],
      nextCursor: 'WyIwMWEyMWUwMC04Nzg0LTgwMDAtODAwYi1mZTg2NjdmYmJkZTUiXQ',
    },
  },
  'GET /api/runs/{runId}/episodes/{episodeId}': {
    response: {
      ...EPISODE,
      task: {
        arms: ['volcano', 'garden'],
      },
      metadata: null,
      parentEpisodeId: null,
      finalObservation: 'choose volcano or garden',
      endDetail: '',
      forkedFrom: null,
      forks: [],
      stepValues: [],
      scores: [],
      numPoorerSteps: 0,
      costUsd: null,
      updateNumbers: [3],
      uses: [
        {
          runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
          updateNumber: 3,
          policyVersionIn: 2,
          firstStep: 0,
          numSteps: 1,
          times: 1,
          numTokens: 1,
          weight: 1,
          advantageMean: -0.2714,
          advantageDeviation: 0,
          advantageMin: -0.2714,
          advantageMax: -0.2714,
        },
      ],
      steps: STEPS,
      nextStep: null,
    },
  },
  'GET /api/runs/{runId}/episodes/{episodeId}/steps': {
    response: { steps: STEPS, nextStep: null },
  },
  'GET /api/runs/{runId}/episodes/{episodeId}/branches': {
    response: {
      items: [
        {
          kind: 'call',
          step: null,
          runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
          episodeId: '01a21e00-9a10-7d52-8c11-2f5c0d3a7be4',
          agent: 'researcher',
          startedAt: '2026-11-27T17:15:07.602000Z',
          sealed: true,
          success: null,
          return: null,
          numSteps: 2,
        },
      ],
      truncated: false,
    },
  },
  'DELETE /api/runs/{runId}/episodes/{episodeId}': {
    response: DELETED,
  },
  'POST /api/runs/{runId}/delete-episodes': {
    request: {
      tag: 'private',
    },
    response: DELETED,
  },
  'GET /api/datasets': {
    response: {
      items: [DATASET],
      nextCursor: null,
    },
  },
  'GET /api/datasets/{name}': {
    response: {
      ...DATASET,
      sql: 'SELECT run_id, episode_id FROM episodes WHERE success LIMIT 20',
      splits: [
        {
          split: 'train',
          numRows: 20,
          file: 'data/train-00000-of-00001.jsonl',
          sha256: '83211e866f71822026cd84deccaa1409b51db9297b96e97d96675310070e47e6',
        },
      ],
      runs: [
        {
          runId: '01a21dff-f7c6-783f-85e9-eb1e7c07a2a8',
          numEpisodes: 7,
          name: 'bandit-ppo',
        },
        {
          runId: '01a21e00-8784-7c94-b680-2a37b88c45de',
          numEpisodes: 13,
          name: 'bandit-ppo',
        },
      ],
      contamination: {
        nGramWords: 13,
        splits: [],
      },
      settings: {
        score: 'return',
        seed: 0,
        splitShares: null,
        skipped: [],
        numDuplicates: 4,
        droppedDuplicates: false,
      },
      location: '/srv/retrace/datasets/solved',
      codeVersion: '0.1.0+ae9c05204688',
    },
  },
  'GET /api/datasets/{name}/episodes': {
    response: {
      items: [
        {
          runId: '01a21dff-f7c6-783f-85e9-eb1e7c07a2a8',
          episodeId: '01a21dff-f7c6-8000-8001-160aabce2bc5',
        },
      ],
      nextCursor:
        'WyIwMWEyMWRmZi1mN2M2LTc4M2YtODVlOS1lYjFlN2MwN2EyYTgiLCIwMWEyMWRmZi1mN2M2LTgwMDAtODAwMS0xNjBhYWJjZTJiYzUiXQ',
    },
  },
};
