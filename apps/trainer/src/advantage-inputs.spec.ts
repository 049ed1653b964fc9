import type { EpisodeColumns } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { greedyBaselines, greedyReturns, rolesOf } from './advantage-inputs.js';

/** Episodes of one step each. */
function columnsOf(episodes: readonly { group: string; greedy: boolean }[]): EpisodeColumns {
  return {
    episodeIds: episodes.map((_, e) => `episode ${String(e)}`),
    groupIds: episodes.map(({ group }) => group),
    stepOffsets: Int32Array.from({ length: episodes.length + 1 }, (_, e) => e),
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

  it('are refused for a group that has none', () => {
    const without = columnsOf([{ group: 'a', greedy: false }]);
    expect(() => greedyReturns(without, greedyBaselines(without), Float64Array.of(1))).toThrow(
      /group a: it has no greedy episode/,
    );
  });
});

describe('roles', () => {
  it('are data sources, with the baselines they had and 0 for new ones', () => {
    const textsOf = (task: { data_source?: string } | null) => ({
      environment: 'bandit',
      task,
      finalObservation: '',
      steps: [],
    });
    const texts = [{ data_source: 'math' }, null, { data_source: 'math' }].map(textsOf);
    const { names, roleIds, baselines } = rolesOf(texts, undefined, { math: 0.5, code: 9 });
    expect(names).toEqual(['math', 'bandit']);
    expect([...roleIds]).toEqual([0, 1, 0]);
    expect([...baselines]).toEqual([0.5, 0]);
  });
});
