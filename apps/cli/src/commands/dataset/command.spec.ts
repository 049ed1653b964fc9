import { DATASET_FORMATS } from '@retrace/datasets';
import { expect, it } from 'vitest';
import { FORMAT_NAMES } from './command.js';

it('dataset create: offers every format of the library', () => {
  expect(FORMAT_NAMES).toEqual(Object.keys(DATASET_FORMATS));
});
