import { expect, it } from 'vitest';
import { readCompletion, type Completion } from './read-completion.js';

it('readCompletion: gives each sampled token its text, logprob and the version that sampled it', () => {
  const completion: Completion = {
    policy_version: 8,
    choices: [
      {
        message: { content: 'left up' },
        logprobs: {
          content: [
            { token: 'left', logprob: -0.2 },
            { token: ' up', logprob: -1.5 },
          ],
        },
        token_ids: [2, 7],
        policy_versions: [
          { version: 7, start: 0, end: 1 },
          { version: 8, start: 1, end: 2 },
        ],
      },
    ],
  };
  const headers = new Headers({ 'x-retrace-run': 'run', 'x-retrace-episode': 'episode' });
  expect(readCompletion(completion, headers)).toEqual({
    text: 'left up',
    policyVersion: 7,
    tokens: {
      ids: [2, 7],
      texts: ['left', ' up'],
      actionMask: [1, 1],
      logprobs: [-0.2, -1.5],
      entropies: [],
      policyVersions: [7, 8],
    },
    recordedRunId: 'run',
    episodeId: 'episode',
  });
});

it.each([
  null,
  'text',
  {},
  { choices: [] },
  { choices: [null] },
  { choices: [{ message: { content: 'a' } }] },
])('readCompletion: %j is no answer of a policy', (body) => {
  expect(readCompletion(body, new Headers())).toBeNull();
});
