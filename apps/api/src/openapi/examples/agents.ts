import type { Examples } from './example.js';

/** Examples of the proxy for agents, and of questions to a policy. */
export const AGENTS_EXAMPLES: Examples = {
  'GET /api/agents': {
    response: {
      proxy: { url: 'http://127.0.0.1:8790', runName: 'agents', policiesAnswer: true, needsKey: false },
    },
  },
  'POST /api/runs/{runId}/answers': {
    request: { text: 'goal_a1 hole_b1 you_d4', policy: 'newest', maxTokens: 1 },
    response: {
      text: 'left',
      policyVersion: 60,
      tokens: {
        ids: [2],
        texts: ['left'],
        actionMask: [1],
        logprobs: [-0.209],
        entropies: [],
        policyVersions: [60],
      },
      recordedRunId: 'b352642e-39b7-8b60-b9f7-2579fd5f6592',
      episodeId: '01a229cc-092b-771d-9672-da6a6e3849a2',
    },
  },
};
