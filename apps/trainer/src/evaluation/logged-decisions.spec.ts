import { buildTokenBatch, type EpisodeColumns } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { toLoggedDecisions } from './logged-decisions.js';

/** Two episodes in one context each. Steps of the first: two action tokens, none, one; of the second: none, one. */
const columns: EpisodeColumns = {
  episodeIds: ['a', 'b'],
  groupIds: ['g', 'g'],
  endReasons: Uint8Array.of(0, 0),
  successes: Int8Array.of(1, 1),
  stepOffsets: Int32Array.of(0, 3, 5),
  steps: Int32Array.of(0, 1, 2, 0, 1),
  rewards: new Float64Array(5),
  anchors: ['s0', 's1', 's2', 't0', 't1'],
  actionValid: new Uint8Array(5).fill(1),
  keptPrefixTokens: Int32Array.of(0, 3, 4, 0, 1),
  temperatures: new Float32Array(5).fill(1),
  greedy: new Uint8Array(5),
  tokenOffsets: Int32Array.of(0, 3, 4, 6, 7, 9),
  tokenIds: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
  actionMask: Uint8Array.of(0, 1, 1, 0, 0, 1, 0, 0, 1),
  tokenLogprobs: Float32Array.of(0, -1, -2, 0, 0, -3, 0, 0, -4),
  tokenPolicyVersions: new Int32Array(9),
  finalTokenOffsets: Int32Array.of(0, 0, 0),
  finalTokenIds: new Int32Array(0),
  finalKeptPrefixTokens: Int32Array.of(6, 3),
};
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
