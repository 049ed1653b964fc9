import { expect, it } from 'vitest';
import { readForm } from './read-form';

const empty = { update: '3', to: '', set: '', rewardVersion: '', withTokens: false };

it('the form of a what-if: leaves out what was left empty', () => {
  expect(readForm(empty)).toEqual({ updateNumber: 3, withTokens: false });
  expect(readForm({ ...empty, to: ' ', set: ' \n\n', rewardVersion: ' ' })).toEqual({
    ...{ updateNumber: 3, withTokens: false },
  });
});

it('the form of a what-if: one assignment a line, without the spaces around it', () => {
  const set = ' loss.clipLow=0.1\n\nreward.components=[{"reward":"a b"}] ';
  expect(readForm({ update: '3', to: '5', set, rewardVersion: ' strict ', withTokens: true })).toEqual({
    updateNumber: 3,
    toUpdate: 5,
    set: ['loss.clipLow=0.1', 'reward.components=[{"reward":"a b"}]'],
    rewardVersion: 'strict',
    withTokens: true,
  });
});
