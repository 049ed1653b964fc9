import type { Examples } from './example.js';

/** Examples of recording. */
export const RECORDING_EXAMPLES: Examples = {
  'POST /api/runs': {
    request: {
      name: 'support agent',
      tags: ['nightly'],
    },
    response: {
      runId: '01a21e04-a484-70d7-871d-855f599898b7',
    },
  },
  'POST /api/runs/{runId}/records': {
    request: [
      {
        type: 'episode',
        episode: 'ticket-17',
        environment: 'support',
        task: {
          ticket: 17,
        },
      },
      {
        type: 'step',
        episode: 'ticket-17',
        step: 0,
        observation: 'Where is my order?',
        action: 'It arrives tomorrow.',
        reward: 1,
      },
      {
        type: 'end',
        episode: 'ticket-17',
        success: true,
      },
    ],
    response: {
      accepted: 3,
      duplicates: 0,
    },
  },
  'PATCH /api/runs/{runId}': {
    request: {
      tags: ['baseline'],
      notes: 'The first that learned to wait.',
      starred: true,
    },
    response: {
      runId: '01a21e04-a484-70d7-871d-855f599898b7',
    },
  },
  'POST /api/runs/{runId}/end': {
    request: {
      reason: 'finished',
    },
    response: {
      closedGroups: 0,
    },
  },
  'POST /api/runs/{runId}/policies': {
    request: {
      policyVersion: 0,
      model: 'Qwen/Qwen3-0.6B',
    },
    response: {
      policyVersion: 0,
    },
  },
  'POST /api/runs/{runId}/updates': {
    request: {
      id: '01a21e05-2b6f-7c1d-9a52-5d0c3f1e8b77',
      policyVersionIn: 0,
      engine: {
        kind: 'trl',
        version: 'trl 1.16.0, torch 2.11.0',
        device: 'NVIDIA H200',
        numProcesses: 8,
        precision: 'bfloat16',
      },
      episodes: [
        {
          episode: 'ticket-17',
          numTokens: 212,
          advantage: { mean: 0.7071, deviation: 0, min: 0.7071, max: 0.7071 },
          reward: 1,
          digest: '9f2c4b1e7a30d586',
        },
        {
          episode: 'ticket-18',
          numTokens: 187,
          advantage: { mean: -0.7071, deviation: 0, min: -0.7071, max: -0.7071 },
          reward: 0,
          digest: '03b7d9c2e85f641a',
        },
      ],
      stepLosses: [0.0132],
      stepGradientNorms: [0.841],
      metrics: {
        'train/loss': 0.0132,
      },
      location: 's3://checkpoints/support-agent/1',
    },
    response: {
      planId: '01a21e05-2b6f-7c1d-9a52-5d0c3f1e8b77',
      updateNumber: 1,
      policyVersion: 1,
    },
  },
  'POST /v1/traces': {
    request: {
      resourceSpans: [
        {
          resource: {
            attributes: [
              {
                key: 'service.name',
                value: {
                  stringValue: 'support agent',
                },
              },
            ],
          },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: 'eee19b7ec3c1b174',
                  name: 'chat',
                  startTimeUnixNano: '1764263709526000000',
                  endTimeUnixNano: '1764263710526000000',
                  attributes: [
                    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
                    { key: 'gen_ai.prompt.0.role', value: { stringValue: 'user' } },
                    { key: 'gen_ai.prompt.0.content', value: { stringValue: 'Where is my order?' } },
                    { key: 'gen_ai.completion.0.role', value: { stringValue: 'assistant' } },
                    { key: 'gen_ai.completion.0.content', value: { stringValue: 'It arrives tomorrow.' } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    },
    response: {},
  },
};
