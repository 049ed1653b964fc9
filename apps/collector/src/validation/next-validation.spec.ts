import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { Story } from '../testing/story.js';
import { nextValidation, numWaitingVersions } from './next-validation.js';

function recipeWith(...assignments: string[]) {
  return resolveRecipe('frozen-lake-ppo', {
    numUpdates: 5,
    assignments: ['evaluation.everyUpdates=2', 'evaluation.numTestEpisodes=5', ...assignments],
  });
}

const validates = (policyVersion: number) => ({
  kind: 'evaluate',
  split: 'validation',
  numTasks: 200,
  policy: { policyVersion },
});
const tests = (policyVersion: number) => ({
  kind: 'evaluate',
  split: 'test',
  numTasks: 5,
  policy: { policyVersion },
});

describe('nextValidation', () => {
  it('waits for the first policy', () => {
    expect(nextValidation(new Story().run, recipeWith())).toEqual({ kind: 'wait' });
  });

  it('validates the first version, every n-th update and the last, in order, however far training has gone on', () => {
    const story = new Story();
    for (let version = 0; version <= 5; version++) story.published(version);
    const recipe = recipeWith();
    for (const due of [0, 2, 4, 5]) {
      expect(nextValidation(story.run, recipe)).toMatchObject(validates(due));
      story.evaluated('validation/success', due);
    }
    expect(nextValidation(story.run, recipe)).toMatchObject(tests(5));
  });

  it('leaves the first version out where evaluation.beforeTraining is false, and still validates the last', () => {
    const recipe = recipeWith('evaluation.beforeTraining=false');
    const story = new Story().published(0);
    expect(nextValidation(story.run, recipe)).toEqual({ kind: 'wait' });
    expect(numWaitingVersions(story.run, recipe)).toBe(0);
    for (let version = 1; version <= 5; version++) story.published(version);
    for (const due of [2, 4, 5]) {
      expect(nextValidation(story.run, recipe)).toMatchObject(validates(due));
      story.evaluated('validation/success', due);
    }
    expect(nextValidation(story.run, recipe)).toMatchObject(tests(5));
  });

  it('counts the versions that wait: due ones that were published, until they are validated or the run has ended', () => {
    const recipe = recipeWith();
    const story = new Story();
    expect(numWaitingVersions(story.run, recipe)).toBe(0);
    // Due are versions 0, 2 and 4 of these.
    for (let version = 0; version <= 4; version++) story.published(version);
    expect(numWaitingVersions(story.run, recipe)).toBe(3);
    story.evaluated('validation/success', 0);
    expect(numWaitingVersions(story.run, recipe)).toBe(2);
    story.add('RunEnded', { reason: 'stopped', detail: '', numUpdates: 4 });
    expect(numWaitingVersions(story.run, recipe)).toBe(0);
  });

  it('waits for the next version that is due', () => {
    const story = new Story().published(0).evaluated('validation/success', 0).published(1);
    expect(nextValidation(story.run, recipeWith())).toEqual({ kind: 'wait' });
    expect(nextValidation(story.published(2).run, recipeWith())).toMatchObject(validates(2));
  });

  it('ends the run after the test, or at once where there is none, and is finished then', () => {
    const recipe = recipeWith('evaluation.everyUpdates=0');
    const story = new Story().published(4);
    expect(nextValidation(story.run, recipe)).toEqual({ kind: 'wait' });
    story.published(5);
    expect(nextValidation(story.run, recipe)).toMatchObject(tests(5));
    story.evaluated('test/success', 5);
    expect(nextValidation(story.run, recipe)).toEqual({ kind: 'endRun', detail: '' });
    story.add('RunEnded', { reason: 'finished', detail: '', numUpdates: 5 });
    expect(nextValidation(story.run, recipe)).toEqual({ kind: 'finished' });
  });

  it('after a plateau tests the version with the best validation, once the update under way is committed', () => {
    const recipe = recipeWith('evaluation.earlyStop={"patience":1,"minGain":0.1}', 'numUpdates=50');
    const story = new Story().published(0).evaluated('validation/success', 0, 0.5).published(1).published(2);
    story.closed('a').planned(1, ['a']).evaluated('validation/success', 2, 0.55);
    expect(nextValidation(story.run, recipe)).toEqual({ kind: 'wait' });
    story.applied(1);
    // The best is version 2, although its gain was too small to go on.
    expect(nextValidation(story.run, recipe)).toMatchObject(tests(2));
    story.published(3).published(4).evaluated('test/success', 2);
    expect(nextValidation(story.run, recipe)).toEqual({
      kind: 'endRun',
      detail:
        'stopped early: the success of validation has not risen by 0.1 in 1 validations, the best is 0.55 of policy 2',
    });
  });

  it('tests the best version too where early stop never came', () => {
    const recipe = recipeWith('evaluation.earlyStop={"patience":9}');
    const story = new Story();
    for (let version = 0; version <= 5; version++) story.published(version);
    for (const [version, success] of [
      [0, 0.1],
      [2, 0.9],
      [4, 0.3],
      [5, 0.2],
    ])
      story.evaluated('validation/success', version, success);
    expect(nextValidation(story.run, recipe)).toMatchObject(tests(2));
  });
});
