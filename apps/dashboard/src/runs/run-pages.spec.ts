import { expect, it } from 'vitest';
import { pagesOfRun } from './run-pages';

const labels = (kind: 'trained' | 'recorded', policyVersion: number | null, isSaved: boolean) =>
  pagesOfRun({ kind, policyVersion }, isSaved).map(({ label }) => label);

it('gives a run the pages that it can have', () => {
  expect(labels('trained', 3, false)).toEqual([
    ...['Overview', 'Metrics', 'Episodes', 'Updates', 'Rewards', 'What if', 'Recipe'],
  ]);
  expect(labels('trained', 3, true)).toEqual(['Overview', 'Metrics', 'Episodes', 'Updates', 'Recipe']);
  expect(labels('recorded', null, false)).toEqual(['Overview', 'Episodes', 'Rewards']);
  expect(labels('recorded', 0, false)).toEqual(['Overview', 'Metrics', 'Episodes', 'Updates', 'Rewards']);
});
