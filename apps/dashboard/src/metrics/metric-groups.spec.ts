import { expect, it } from 'vitest';
import { metricGroups } from './metric-groups';

const NAMES = [
  'train/loss',
  'time/wait',
  'rollout/success',
  'train/klCoefficient',
  'value/mean',
  'train/loss',
];

it('metrics are grouped by their kind, those that are looked at most first', () => {
  expect(metricGroups(NAMES, '')).toEqual([
    { kind: 'rollout', names: ['rollout/success'] },
    { kind: 'train', names: ['train/klCoefficient', 'train/loss'] },
    { kind: 'time', names: ['time/wait'] },
    { kind: 'value', names: ['value/mean'] },
  ]);
});

it('a search finds the metrics with all of its words, in whatever case', () => {
  expect(metricGroups(NAMES, ' KL  train ')).toEqual([{ kind: 'train', names: ['train/klCoefficient'] }]);
  expect(metricGroups(NAMES, 'loss wait')).toEqual([]);
});

it('pinned metrics that are found come first, in the order of their pins, and are in no other group', () => {
  expect(metricGroups(NAMES, 't', ['value/mean', 'train/loss', 'time/wait', 'gone'])).toEqual([
    { kind: 'Pinned', names: ['train/loss', 'time/wait'] },
    { kind: 'rollout', names: ['rollout/success'] },
    { kind: 'train', names: ['train/klCoefficient'] },
  ]);
});
