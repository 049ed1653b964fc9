import { expect, it } from 'vitest';
import { lengthFault, readView, writeView, type ExplorerView } from './explorer-view';

const UNCHANGED: ExplorerView = {
  ...{ search: '', others: [], axis: 'update', smoothing: 0, isLog: false, isMean: false },
  ...{ columns: 0, pins: null, metrics: null },
};

it('a view of the explorer is in its address, without what nobody chose', () => {
  expect(writeView(UNCHANGED).toString()).toBe('');
  const chosen: ExplorerView = {
    ...{ search: 'kl train', others: ['a', 'b'], axis: 'tokens', smoothing: 0.6, isLog: true, isMean: true },
    ...{ columns: 2, pins: ['train/loss', 'time/wait'] },
    metrics: [
      { name: 'a', query: 'SELECT 1' },
      { name: 'b', query: 'SELECT 2' },
    ],
  };
  expect(writeView(chosen).toString()).toBe(
    'q=kl+train&with=a&with=b&x=tokens&smooth=0.6&log=1&seeds=mean&columns=2&pin=train%2Floss&pin=time%2Fwait&metric=a&metric=b&sql=SELECT+1&sql=SELECT+2',
  );
  expect(readView(writeView(chosen))).toEqual(chosen);
});

it('a view whose queries are too long for an address says so', () => {
  const view = (length: number) => ({ ...UNCHANGED, metrics: [{ name: 'a', query: 'x'.repeat(length) }] });
  expect(lengthFault(view(7_987))).toBeNull();
  expect(lengthFault(view(7_988))).toBe(
    'The pins and queries of this view take 8,001 characters, and a link or layout holds 8,000: shorten or remove some.',
  );
});

it('a metric by SQL without a query, or whose name comes again, counts as absent', () => {
  const { metrics } = readView(new URLSearchParams('metric=a&metric=b&metric=a&sql=1&sql=&sql=3'));
  expect(metrics).toEqual([{ name: 'a', query: '3' }]);
  expect(readView(new URLSearchParams('metric=')).metrics).toEqual([]);
});

it('an address without pins leaves them to the browser, and one with none shows none', () => {
  expect(readView(new URLSearchParams('')).pins).toBeNull();
  expect(writeView({ ...UNCHANGED, pins: [] }).toString()).toBe('pin=');
  expect(readView(new URLSearchParams('pin=')).pins).toEqual([]);
});

it('what an address can not say counts as absent', () => {
  const parameters = new URLSearchParams('x=days&smooth=2&log=yes&seeds=1&with=&with=a&with=a&columns=5');
  expect(readView(parameters)).toEqual({ ...UNCHANGED, others: ['a'] });
  expect(readView(new URLSearchParams('smooth=much&columns=1.5'))).toEqual(UNCHANGED);
});
