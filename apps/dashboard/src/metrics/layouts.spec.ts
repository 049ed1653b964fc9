import { expect, it } from 'vitest';
import { readView } from './explorer-view';
import {
  movedPin,
  renamed,
  formatSearch,
  shownPins,
  toggled,
  toExplorerView,
  withMetric,
  withoutMetric,
} from './layouts';

it('a pin is added to the end, and taken away', () => {
  expect(toggled(['a'], 'b')).toEqual(['a', 'b']);
  expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
});

it('the first four pins of those that a run has are shown', () => {
  const pins = ['gone', 'a', 'b', 'c', 'gone too', 'd', 'e'];
  expect(shownPins(pins, ['e', 'd', 'c', 'b', 'a'])).toEqual(['a', 'b', 'c', 'd']);
});

it('a pin goes with its metric by SQL: to its new name, and away', () => {
  const [lag, delay] = ['lag', 'delay'].map((name) => ({ name, query: '1' }));
  expect(movedPin(['a', 'sql/lag', 'b'], lag, delay)).toEqual(['a', 'sql/delay', 'b']);
  expect(movedPin(['a', 'sql/lag', 'b'], lag, null)).toEqual(['a', 'b']);
  expect(withMetric([lag], delay, lag)).toEqual([delay]);
  expect(withMetric([lag], delay, null)).toEqual([delay, lag]);
  expect(withoutMetric([lag], lag)).toEqual([]);
});

it('a layout has all of a view but its runs, which stay those that are shown', () => {
  const view = readView(new URLSearchParams('q=kl&with=a&x=tokens&seeds=mean&columns=3&pin=train/kl'));
  const search = formatSearch(view);
  expect(search).toBe('q=kl&x=tokens&columns=3&pin=train%2Fkl');
  const shown = readView(new URLSearchParams('with=b&log=1'));
  expect(toExplorerView({ search }, shown)).toEqual({ ...view, others: ['b'], isMean: false });
});

it('a layout takes another name, also that of another layout', () => {
  const layouts = ['a', 'b', 'c'].map((name) => ({ name, search: `q=${name}` }));
  expect(renamed(layouts, 'a', 'b')).toEqual([
    { name: 'b', search: 'q=a' },
    { name: 'c', search: 'q=c' },
  ]);
  expect(renamed(layouts, 'a', 'a')).toEqual(layouts);
});
