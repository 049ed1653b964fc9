import { computeAdvantages } from '@retrace/algorithms';
import type { EpisodeColumns } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { greedyBaselines } from './read-batch.js';
import { episodesToTrain, greedyReturns } from './rewards.js';

/** Episodes of one step each, unless `numSteps` says otherwise. */
function columnsOf(
  episodes: readonly { group: string; greedy: boolean; numSteps?: number }[],
): EpisodeColumns {
  const stepOffsets = new Int32Array(episodes.length + 1);
  episodes.forEach(({ numSteps = 1 }, e) => {
    stepOffsets[e + 1] = stepOffsets[e] + numSteps;
  });
  return {
    episodeIds: episodes.map((_, e) => `episode ${e}`),
    groupIds: episodes.map(({ group }) => group),
    stepOffsets,
    greedy: Uint8Array.from(episodes, ({ greedy }) => Number(greedy)),
  } as unknown as EpisodeColumns;
}

describe('greedy baselines', () => {
  const columns = columnsOf([
    { group: 'a', greedy: false },
    { group: 'a', greedy: true },
    { group: 'b', greedy: true },
    { group: 'b', greedy: false },
  ]);
  const baselines = greedyBaselines(columns);

  it('are the return of the greedy episode of each episode’s own group', () => {
    expect([...baselines]).toEqual([0, 1, 1, 0]);
    const { returns, isKnown } = greedyReturns(columns, baselines, Float64Array.of(1, 2, 3, 4));
    expect([...returns]).toEqual([2, 2, 3, 3]);
    expect([...isKnown]).toEqual([1, 1, 1, 1]);
  });

  it('are unknown, not 0, where the reward of the greedy episode is missing', () => {
    const { isKnown } = greedyReturns(columns, baselines, Float64Array.of(1, NaN, 3, 4));
    expect([...isKnown]).toEqual([0, 0, 1, 1]);
  });

  it('are unknown where an episode ended before its first step, which alone would tell that it was greedy', () => {
    const failed = columnsOf([
      { group: 'a', greedy: false },
      { group: 'a', greedy: true, numSteps: 0 },
    ]);
    const { isKnown } = greedyReturns(failed, Uint8Array.of(0, 0), Float64Array.of(1, NaN));
    expect([...isKnown]).toEqual([0, 0]);
  });

  it('are refused for a group that has none', () => {
    const without = columnsOf([{ group: 'a', greedy: false }]);
    expect(() => greedyReturns(without, greedyBaselines(without), Float64Array.of(1))).toThrow(
      /group a has no greedy episode/,
    );
  });
});

describe('episodes to train', () => {
  it('are those with reward and actions that are no baseline and have one, where any is played', () => {
    const given = {
      rewarded: Uint8Array.of(1, 0, 1, 1, 1),
      actionOffsets: Int32Array.of(0, 2, 4, 4, 6, 8),
      baselines: null,
      hasBaseline: null,
    };
    expect([...episodesToTrain(given)]).toEqual([1, 0, 0, 1, 1]);
    const baselines = Uint8Array.of(0, 0, 0, 1, 0);
    const hasBaseline = Uint8Array.of(1, 1, 1, 1, 0);
    expect([...episodesToTrain({ ...given, baselines, hasBaseline })]).toEqual([1, 0, 0, 0, 0]);
  });

  it('leave one without action tokens out of its group, which would count its reward as 0', () => {
    // Rewards 1 and 3; between them an episode of reward 5 that has no token to carry it.
    const actionOffsets = Int32Array.of(0, 1, 1, 2);
    const rewarded = Uint8Array.of(1, 1, 1);
    const trained = episodesToTrain({ rewarded, actionOffsets, baselines: null, hasBaseline: null });
    const { advantages } = computeAdvantages('drGrpo', {
      offsets: actionOffsets,
      rewards: Float32Array.of(1, 3),
      groupIds: Int32Array.of(0, 0, 0),
      excluded: trained.map((bit) => 1 - bit),
    });
    expect([...advantages]).toEqual([-1, 1]);
  });
});
