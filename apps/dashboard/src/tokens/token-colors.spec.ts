import { describe, expect, it } from 'vitest';
import { colorChoices, computeHeat, tokenColors } from './token-colors';
import { tokenViews, trainedSteps } from './token-view';

const tokens = {
  ids: [7, 8, 9, 10],
  texts: null,
  actionMask: [0, 1, 1, 1],
  logprobs: [0, 0, Math.log(0.1), -50],
  entropies: [0, 0, 1.5, 3],
  policyVersions: [3, 3, 3, 3],
};
const trained = trainedSteps({
  ...{ steps: [4, 4, 5], positions: [1, 2, 1], advantages: [2, -1, 7], ratios: [2, 0.5, 1] },
  ...{ values: [null, null, null], kls: [0, 0.25, 0], entropies: [0, 0, 0] },
  ...{ teacherLogprobs: [null, null, null], clippedShares: [0, 0.5, 0] },
});
const plain = {
  ...{ advantage: null, ratio: null, value: null, kl: null, teacherLogprob: null, clippedShare: 0 },
};
const views = tokenViews(tokens, trained.get(4));
const heats = (by: Parameters<typeof tokenColors>[1]) =>
  views.map((token) => computeHeat(token, tokenColors(views, by)));

describe('colors of tokens', () => {
  it('go from green for a certain token to red at a probability of 1%; context has none', () => {
    const [context, certain, tenth, unlikely] = heats('logprob');
    expect([context, certain, unlikely]).toEqual([null, 0, 1]);
    expect(tenth).toBeCloseTo(0.5);
  });

  it('lie as far to both sides of an advantage of 0 and of a ratio of 1', () => {
    expect(tokenColors(views, 'advantage').ends).toEqual([2, -2]);
    expect(heats('advantage')).toEqual([null, 0, 0.75, null]);
    expect(tokenColors(views, 'ratio').ends).toEqual([2, 0.5]);
    expect(heats('ratio')).toEqual([null, 0, 1, null]);
  });

  it('are in the middle where all advantages are 0 and all ratios 1, and red for a ratio of 0', () => {
    const colored = (by: 'advantage' | 'ratio', values: readonly number[]) => {
      const of = values.map((value) => ({
        ...views[1],
        trained: { ...plain, advantage: value, ratio: value },
      }));
      return of.map((token) => computeHeat(token, tokenColors(of, by)));
    };
    expect(colored('advantage', [0, 0])).toEqual([0.5, 0.5]);
    expect(colored('ratio', [1, 1])).toEqual([0.5, 0.5]);
    expect(colored('ratio', [0, 2, 1])).toEqual([1, 0, 0.5]);
  });

  it('are of one scale for all tokens that are shown together', () => {
    expect(tokenColors(views, 'entropy').ends).toEqual([0, 3]);
    expect(heats('entropy')).toEqual([null, 0, 0.5, 1]);
  });

  it('can be chosen by what tokens have, the same for all or not', () => {
    const labels = colorChoices(views).map(({ label }) => label);
    expect(labels).toEqual(['Logprob', 'Entropy', 'Advantage', 'Ratio', 'KL', 'Clipped']);
    expect(colorChoices(tokenViews({ ...tokens, entropies: [] })).map(({ value }) => value)).toEqual([
      'logprob',
    ]);
  });

  it('are those of the step that trained the token', () => {
    expect(views[1].trained).toMatchObject({ advantage: 2, ratio: 2, value: null, clippedShare: 0 });
    expect(tokenViews(tokens, trained.get(5))[1].trained).toMatchObject({ advantage: 7 });
    expect(views[3].trained).toBeNull();
  });
});
