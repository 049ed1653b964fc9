import type { Examples } from './example.js';

/** Examples of the server, of SQL and of plays. */
export const SERVER_EXAMPLES: Examples = {
  'GET /api/session': {
    response: {
      needsKey: false,
      keyId: null,
      keyName: null,
      scopes: [],
      expiresAt: null,
    },
  },
  'POST /api/session': {
    request: {
      key: 'rt_k7c1f0a2_…',
    },
    response: {
      needsKey: true,
      keyId: 'k7c1f0a2',
      keyName: 'laptop',
      scopes: ['read'],
      expiresAt: '2026-12-27T17:15:09.526Z',
    },
  },
  'DELETE /api/session': {
    response: {
      needsKey: true,
      keyId: null,
      keyName: null,
      scopes: [],
      expiresAt: null,
    },
  },
  'GET /api/health': {
    response: {
      status: 'ok',
      version: '0.1.0',
      store: {
        state: 'ready',
        detail: '',
        status: 'up',
      },
      log: {
        logId: '01a21dff-f711-7bf0-af9d-c9a89df1b016',
      },
      sink: {
        state: 'running',
        detail: '',
        lagRecords: 0,
        visibleAfterMsP99: 1614,
        status: 'up',
      },
    },
  },
  'POST /api/sql': {
    request: {
      query:
        'SELECT split, count() AS episodes, round(avg(success), 3) AS success FROM episodes GROUP BY split ORDER BY split',
    },
    response: {
      columns: [
        {
          name: 'split',
          type: 'String',
        },
        {
          name: 'episodes',
          type: 'UInt64',
        },
        {
          name: 'success',
          type: 'Nullable(Float64)',
        },
      ],
      rows: [
        ['test', 12, 0.333],
        ['train', 1281, 0.046],
      ],
      numRows: 2,
      truncated: false,
      elapsedMs: 468,
    },
  },
  'GET /api/plays': {
    response: {
      items: [
        {
          playId: '01a21e03-6c77-75aa-8dfa-39a0fc28f322',
          policies: ['latest', 'random'],
          environments: ['bandit'],
          startedAt: '2026-11-27T17:17:51.016000Z',
        },
      ],
      nextCursor: null,
    },
  },
  'GET /api/plays/{playId}': {
    response: {
      playId: '01a21e03-6c77-75aa-8dfa-39a0fc28f322',
      startedAt: '2026-11-27T17:17:51.016000Z',
      isComplete: true,
      runs: [
        {
          runId: '01a21e03-6e27-772a-b024-e74db30645ce',
          policy: 'latest',
          description: 'run:01a21e00-8784-7c94-b680-2a37b88c45de@3',
          environment: 'bandit',
          numPlanned: 6,
          numEnded: 6,
          greedy: false,
          price: null,
        },
        {
          runId: '01a21e03-6fdf-77d8-a3fc-acd82e8beacf',
          policy: 'random',
          description: 'random',
          environment: 'bandit',
          numPlanned: 6,
          numEnded: 6,
          greedy: false,
          price: null,
        },
      ],
      rows: [
        {
          policy: 'random',
          environment: 'bandit',
          split: 'test',
          seed: null,
          family: null,
          numTasks: 6,
          numEpisodes: 6,
          numSuccesses: 4,
          numUnknown: 0,
          numFailed: 0,
          successRate: 0.6667,
          successLow: 0.3,
          successHigh: 0.9032,
          effectiveEpisodes: 6,
          passAtK: [
            {
              k: 1,
              pass: 0.6667,
              numTasks: 6,
            },
          ],
          meanReturn: 0.2,
          meanSteps: 1,
          meanInputTokens: null,
          meanOutputTokens: null,
          costUsd: null,
        },
      ],
      comparisons: [
        {
          environment: 'bandit',
          split: 'test',
          first: 'latest',
          second: 'random',
          numTasks: 6,
          difference: 0.6667,
          differenceLow: 0.01001,
          differenceHigh: 0.99,
          numOnlyFirst: 0,
          numOnlySecond: 4,
          pValue: 0.125,
        },
      ],
    },
  },
  'POST /api/sql/explain': {
    request: {
      query: "SELECT count() FROM steps WHERE run_id = '01a21e00-8784-7c94-b680-2a37b88c45de' AND reward < 0",
    },
    response: {
      names: ['steps'],
      tables: [
        { table: 'events', numRows: 8192, totalRows: 67747, maxBytes: 922914, numParts: 1, numGranules: 1 },
      ],
      steps: [
        { depth: 0, name: 'Aggregating', detail: '→ count()', indexes: [] },
        {
          depth: 1,
          name: 'ReadFromMergeTree',
          detail: 'events',
          indexes: [
            {
              ...{ type: 'PrimaryKey', name: 'run_id, episode_id' },
              condition: "(run_id in ['01a21e00-8784-7c94-b680-2a37b88c45de'])",
              ...{ numParts: 1, totalParts: 27, numGranules: 1, totalGranules: 183 },
            },
          ],
        },
      ],
    },
  },
  'GET /api/sql/schema': {
    response: {
      tables: [
        {
          name: 'runs',
          columns: [
            {
              name: 'run_id',
              type: 'LowCardinality(String)',
            },
            {
              name: 'name',
              type: 'String',
            },
            {
              name: 'recipe_hash',
              type: 'String',
            },
          ],
        },
        {
          name: 'episodes',
          columns: [
            {
              name: 'run_id',
              type: 'LowCardinality(String)',
            },
            {
              name: 'episode_id',
              type: 'String',
            },
            {
              name: 'group_id',
              type: 'String',
            },
          ],
        },
      ],
    },
  },
};
