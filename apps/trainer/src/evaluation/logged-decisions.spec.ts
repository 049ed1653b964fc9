import { buildTokenBatch } from '@retrace/trajectory';
import { columnsFromTokens } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { toLoggedDecisions } from './logged-decisions.js';

/** Two episodes in one context each. Steps of the first: two action tokens, none, one; of the second: none, one. */
const columns = columnsFromTokens([
  {
    steps: [
      { observation: [1], action: [2, 3], logprobs: [-1, -2], fields: { anchor: 's0' } },
      { observation: [4], action: [], fields: { anchor: 's1' } },
      { observation: [5], action: [6], logprobs: [-3], fields: { anchor: 's2' } },
    ],
  },
  {
    steps: [
      { observation: [7], action: [], fields: { anchor: 't0' } },
      { observation: [8], action: [9], logprobs: [-4], fields: { anchor: 't1' } },
    ],
  },
]);
const batch = buildTokenBatch(columns);
const candidateLogprobs = Float32Array.of(0, -0.5, -0.25, 0, 0, -0.75, 0, 0, -0.125);

describe('toLoggedDecisions', () => {
  it('takes the tokens of a step together, and keeps every reward though a step has no tokens', () => {
    const logged = toLoggedDecisions({
      columns,
      batch,
      candidateLogprobs,
      rewards: [
        [1, 2, 4],
        [8, 16],
      ],
      excluded: Uint8Array.of(0, 0),
    });
    expect([...logged.offsets]).toEqual([0, 2, 3]);
    expect([...logged.groupIds]).toEqual([0, 0]);
    expect([...logged.behaviorLogprobs]).toEqual([-3, -3, -4]);
    expect([...logged.candidateLogprobs]).toEqual([-0.75, -0.75, -0.125]);
    expect([...logged.rewards]).toEqual([1 + 2, 4, 8 + 16]);
    expect(logged.decisions).toEqual([
      { sequenceStart: 0, firstToken: 1, endToken: 3, anchor: 's0', step: 0 },
      { sequenceStart: 0, firstToken: 5, endToken: 6, anchor: 's2', step: 2 },
      { sequenceStart: 6, firstToken: 8, endToken: 9, anchor: 't1', step: 1 },
    ]);
  });

  it('leaves out episodes that are excluded or have no reward', () => {
    const rewards = [[1, 2, 4], null];
    const input = { columns, batch, candidateLogprobs, rewards };
    expect([...toLoggedDecisions({ ...input, excluded: Uint8Array.of(0, 0) }).offsets]).toEqual([0, 2]);
    expect([...toLoggedDecisions({ ...input, excluded: Uint8Array.of(1, 0) }).offsets]).toEqual([0]);
  });
});
