import type { Json } from '@retrace/trajectory';
import type { Examples } from './example.js';

const START = {
  recipe: 'frozen-lake-ppo',
  algorithm: 'grpo',
  numUpdates: 100,
  seed: 7,
  overrides: { 'optimizer.learningRate': 0.0003, 'collection.groupSize': 8 },
};

const QUEUED = {
  queueId: '01a21e04-539c-7e60-857f-b59367cfaacf',
  name: 'frozen-lake-ppo',
  runId: null,
  start: START,
  status: 'queued',
  detail: '',
  queuedAt: '2026-11-27T17:15:09.526Z',
};

const QUEUE: Json = { isAvailable: true, running: null, queued: [QUEUED], ended: [] };
const NOTHING_QUEUED: Json = { isAvailable: true, running: null, queued: [], ended: [] };

/** Examples of runs that a server starts, queues and stops. */
export const QUEUE_EXAMPLES: Examples = {
  'GET /api/recipes': {
    response: {
      recipes: [{ name: 'bandit-ppo', description: 'bandit: PPO with a critic' }],
      algorithms: [{ name: 'grpo', description: 'GRPO' }],
    },
  },
  'GET /api/queue': { response: QUEUE },
  'POST /api/queue': { request: START, response: QUEUE },
  'DELETE /api/queue/{queueId}': { response: NOTHING_QUEUED },
  'POST /api/runs/{runId}/training': { request: { action: 'stop' }, response: NOTHING_QUEUED },
};
