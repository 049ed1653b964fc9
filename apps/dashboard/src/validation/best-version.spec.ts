import { expect, it } from 'vitest';
import type { ValidationFigures } from '../api-types/schema';
import { bestVersion, firstAndNewestFigures } from './best-version';

const figures = (policyVersion: number, success: number | null, more: Partial<ValidationFigures> = {}) =>
  ({
    policyVersion,
    success,
    split: 'validation',
    decoding: 'greedy',
    family: null,
    ...more,
  }) as ValidationFigures;

it('the best version has the highest greedy success over all tasks, of equal ones it is the newer', () => {
  expect(bestVersion([])).toBeNull();
  expect(bestVersion([figures(0, null)])).toBeNull();
  expect(bestVersion([figures(10, 0.5), figures(30, 0.9), figures(20, 0.9), figures(40, 0.8)])).toBe(30);
  const others = [
    figures(50, 1, { decoding: 'sampled' }),
    figures(60, 1, { family: 'easy' }),
    figures(70, 1, { split: 'test' }),
  ];
  expect(bestVersion([...others, figures(10, 0.5)])).toBe(10);
  expect(bestVersion(others)).toBe(50);
});

it('firstAndNewestFigures: those of one decoding over all tasks, and none where one version was validated only', () => {
  const [newest, first] = [figures(20, 0.9), figures(0, 0.1)];
  const others = [
    figures(30, null),
    figures(20, 0.8, { decoding: 'sampled' }),
    figures(20, 1, { family: 'easy' }),
    figures(0, 0.2, { decoding: 'sampled' }),
  ];
  expect(firstAndNewestFigures([...others.slice(0, 3), newest, figures(10, 0.5), first, others[3]])).toEqual({
    first,
    newest,
  });
  expect(firstAndNewestFigures([newest])).toEqual({ first: null, newest: null });
  expect(firstAndNewestFigures([])).toEqual({ first: null, newest: null });
});
