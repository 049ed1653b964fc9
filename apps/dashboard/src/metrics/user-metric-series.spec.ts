import { describe, expect, it } from 'vitest';
import type { ComparedRun } from '../api/compared-runs';
import type { SqlResult } from '../api-types/schema';
import { refetchMs } from './user-metric-queries';
import { completedRuns, MAX_QUESTIONS, listQuestions } from './user-metric-series';

const METRICS = ['lag', 'size'].map((name) => ({ name, query: name }));
const runs = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    run: { runId: `0000000${i}`, name: 'own' },
    series: [],
  })) as unknown as readonly ComparedRun[];
const result: SqlResult = {
  columns: ['x', 'value'].map((name) => ({ name, type: 'UInt32' })),
  ...{ rows: [[1, 5]], truncated: false, numRows: 1, elapsedMs: 1 },
};
const retry = () => undefined;

describe('completedRuns', () => {
  it('draws an answer where a later one failed, with the problem and the run beside it', () => {
    const two = runs(2);
    const questions = listQuestions(METRICS, two);
    const waiting = { result: undefined, error: null, retry };
    const answers = [
      { result, error: null, retry },
      { result, error: new Error('the store is busy'), retry },
      ...[waiting, waiting],
    ];
    const completed = completedRuns(two, questions, answers);
    expect(completed.runs.map(({ series }) => series.map(({ name, values }) => [name, values]))).toEqual([
      [['sql/lag', [5]]],
      [['sql/lag', [5]]],
    ]);
    expect([...completed.problems]).toEqual([['lag', { message: 'own 00000001: the store is busy', retry }]]);
  });

  it('asks as many queries as a page may, and says which metrics lack runs', () => {
    const many = runs(MAX_QUESTIONS - 1);
    const questions = listQuestions(METRICS, many);
    expect(questions.asked).toHaveLength(MAX_QUESTIONS);
    const { problems } = completedRuns(many, questions, []);
    expect([...problems.keys()]).toEqual(['size']);
    expect(problems.get('size')?.message).toMatch(/^Not drawn for every run: a page asks 36 queries at most/);
  });
});

describe('refetchMs', () => {
  const run = { status: 'running', startedAt: '1970-01-01T00:00:00Z', endedAt: null } as const;
  const state = { data: { elapsedMs: 500 }, dataUpdatedAt: 40_000, numQueries: 2 };

  it('asks no query more than a tenth of the time, all of a page together', () => {
    expect(refetchMs({ ...run, lastActivityAt: null }, state)).toBe(15_000);
    expect(refetchMs({ ...run, lastActivityAt: null }, { ...state, numQueries: 12 })).toBe(60_000);
  });

  it('asks once more after the end of a run', () => {
    const ended = {
      ...run,
      status: 'finished',
      endedAt: '1970-01-01T00:00:30Z',
      lastActivityAt: null,
    } as const;
    expect(refetchMs(ended, state)).toBe(15_000);
    expect(refetchMs(ended, { ...state, dataUpdatedAt: 45_001 })).toBe(false);
  });
});
