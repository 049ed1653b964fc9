import { expect, it } from 'vitest';
import { readView } from './explorer-view';
import { renamed, searchOf, toggled, viewOf } from './layouts';

it('a pin is added to the end, and taken away', () => {
  expect(toggled(['a'], 'b')).toEqual(['a', 'b']);
  expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
});

it('a layout has all of a view but its runs, which stay those that are shown', () => {
  const view = readView(new URLSearchParams('q=kl&with=a&x=tokens&seeds=mean&columns=3&pin=train/kl'));
  const search = searchOf(view);
  expect(search).toBe('q=kl&x=tokens&columns=3&pin=train%2Fkl');
  const shown = readView(new URLSearchParams('with=b&log=1'));
  expect(viewOf({ search }, shown)).toEqual({ ...view, others: ['b'], isMean: false });
});

it('a layout takes another name, also that of another layout', () => {
  const layouts = ['a', 'b', 'c'].map((name) => ({ name, search: `q=${name}` }));
  expect(renamed(layouts, 'a', 'b')).toEqual([
    { name: 'b', search: 'q=a' },
    { name: 'c', search: 'q=c' },
  ]);
  expect(renamed(layouts, 'a', 'a')).toEqual(layouts);
});
