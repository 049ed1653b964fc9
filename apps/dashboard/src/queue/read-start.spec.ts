import { expect, it } from 'vitest';
import { forkFields, formatPolicy, readStart, parseVersion } from './read-start';

const EMPTY = { recipe: 'bandit-ppo', algorithm: '', numUpdates: '', seed: '', initFrom: '', overrides: '' };

it('readStart: leaves out what is empty', () => {
  expect(readStart(EMPTY)).toEqual({ recipe: 'bandit-ppo' });
});

it('readStart: reads numbers, and overrides as JSON or else as texts', () => {
  const overrides =
    'optimizer.learningRate=3e-4\n\n advantage.shuffle = true \nimitation=null\nname=a=b\ntasks={"train":[]}\nnothing';
  expect(
    readStart({
      ...EMPTY,
      algorithm: 'grpo',
      numUpdates: '20',
      seed: '0',
      initFrom: ' run:latest ',
      overrides,
    }),
  ).toEqual({
    ...{ recipe: 'bandit-ppo', algorithm: 'grpo', numUpdates: 20, seed: 0, initFrom: 'run:latest' },
    overrides: {
      ...{ 'optimizer.learningRate': 0.0003, 'advantage.shuffle': true, imitation: null, name: 'a=b' },
      ...{ tasks: '{"train":[]}', nothing: '' },
    },
  });
});

it('forkFields: the recipe of a run from its newest policy when it begins, or from a version', () => {
  expect(readStart({ ...EMPTY, ...forkFields('a') })).toEqual({ recipe: 'run:a', initFrom: 'run:a' });
  expect(['12', ''].map((version) => formatPolicy('a', version))).toEqual(['run:a@12', 'run:a']);
  expect(['run:a@12', 'run:a'].map(parseVersion)).toEqual(['12', '']);
});
