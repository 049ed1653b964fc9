import { describe, expect, it } from 'vitest';
import type { EpisodeDetail, StepDetail } from '../api-types/schema';
import { firstDifference, meanLogprob, newestAdvantage, rewardTotals } from './episode-differences';

const step = (fields: object) => ({ observation: 'o', action: 'a', messages: null, ...fields }) as StepDetail;

describe('firstDifference', () => {
  const episode = (...actions: string[]) => ({ steps: actions.map((action) => step({ action })) });

  it.each([
    [[episode('a', 'b'), episode('a', 'c')], 1],
    [[episode('a', 'b'), episode('a', 'b'), episode('x', 'b')], 0],
    [[episode('a', 'b'), episode('a')], 1],
    [[episode('a', 'b'), episode('a', 'b')], null],
    [[episode('a')], null],
    [[], null],
  ])('of %j is %j', (episodes, first) => {
    expect(firstDifference(episodes)).toBe(first);
  });
});

it('rewards are added up by name, without those that are missing', () => {
  const steps = [
    step({
      rewards: [
        { name: 'goal', value: 1 },
        { name: 'cost', value: -0.5 },
      ],
    }),
    step({
      rewards: [
        { name: 'cost', value: -0.25 },
        { name: 'goal', value: null },
      ],
    }),
  ];
  expect([...rewardTotals(steps)]).toEqual([
    ['goal', 1],
    ['cost', -0.75],
  ]);
});

it('the mean logprob is that of sampled tokens', () => {
  const tokens = { ids: [1, 2, 3, 4], actionMask: [0, 1, 1, 1], logprobs: [-9, -1, -2, null] };
  expect(meanLogprob([step({ tokens })])).toBe(-1.5);
  expect(meanLogprob([step({ tokens: { ids: [1], actionMask: [0], logprobs: [null] } })])).toBeNull();
});

it('the advantage is that of the newest update that trained on the episode', () => {
  const use = (updateNumber: number, advantageMean: number | null) => ({ updateNumber, advantageMean });
  const uses = [use(3, 0.5), use(4, -0.5), use(5, null)] as EpisodeDetail['uses'];
  expect(newestAdvantage({ uses })).toBe(-0.5);
  expect(newestAdvantage({ uses: [] })).toBeNull();
});
