import { describe, expect, it } from 'vitest';
import type { NotebookDetail } from '../api/schema';
import {
  contentOf,
  draftOf,
  isChanged,
  withCell,
  withChange,
  withMove,
  withoutCell,
  withStored,
} from './notebook-draft';

const cell = (text: string) => ({ kind: 'sql' as const, text, view: 'table' as const, plot: null });
const stored = (...texts: string[]): NotebookDetail => ({
  ...{ notebookId: 'n', revision: 1, title: 'T', numCells: texts.length, source: '' },
  ...{ createdAt: '', savedAt: '', cells: texts.map(cell) },
});
const textsOf = (draft: ReturnType<typeof draftOf>) => draft.cells.map(({ text }) => text).join('');

describe('draft of a notebook', () => {
  it('moves cells by one place, and not beyond the ends', () => {
    const draft = draftOf(stored('a', 'b', 'c'));
    expect(textsOf(withMove(draft, 0, 1))).toBe('bac');
    expect(textsOf(withMove(draft, 2, -1))).toBe('acb');
    expect(withMove(draft, 0, -1)).toBe(draft);
    expect(withMove(draft, 2, 1)).toBe(draft);
  });

  it('gives a cell a key that no other has, also after the last was taken away', () => {
    const draft = withCell(withoutCell(draftOf(stored('a', 'b')), 0), { kind: 'markdown', text: 'c' });
    expect(draft.cells.map(({ key }) => key)).toEqual([1, 2]);
    expect(textsOf(withChange(draft, 1, { text: 'x' }))).toBe('xc');
  });

  it('is changed by content and order, and no more once it is stored', () => {
    const base = stored('a', 'b');
    const draft = draftOf(base);
    expect(isChanged(draft, base)).toBe(false);
    expect(isChanged(withMove(draft, 0, 1), base)).toBe(true);
    expect(isChanged({ ...draft, title: 'U' }, base)).toBe(true);
    const saved = withChange(withMove(draft, 0, 1), 1, { text: 'secret' });
    const redacted = withStored(saved, stored('[hidden]', 'a'));
    expect(redacted.cells.map(({ key, text }) => [key, text])).toEqual([
      [1, '[hidden]'],
      [0, 'a'],
    ]);
    expect(contentOf(redacted)).toEqual({ title: 'T', cells: [cell('[hidden]'), cell('a')] });
  });
});
