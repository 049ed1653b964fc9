import { describe, expect, it } from 'vitest';
import type { NotebookDetail } from '../api-types/schema';
import {
  toContent,
  toDraft,
  beginEdit,
  isChanged,
  withCell,
  withChange,
  withMove,
  withoutCell,
  withSaved,
  withStored,
  withTheirs,
} from './notebook-draft';

const cell = (text: string) => ({ kind: 'sql' as const, text, view: 'table' as const, plot: null });
const stored = (...texts: string[]): NotebookDetail => ({
  ...{ notebookId: 'n', revision: 1, title: 'T', numCells: texts.length, source: '' },
  ...{ createdAt: '', savedAt: '', cells: texts.map(cell) },
});
const textsOf = (draft: ReturnType<typeof toDraft>) => draft.cells.map(({ text }) => text).join('');

describe('draft of a notebook', () => {
  it('moves cells by one place, and not beyond the ends', () => {
    const draft = toDraft(stored('a', 'b', 'c'));
    expect(textsOf(withMove(draft, 0, 1))).toBe('bac');
    expect(textsOf(withMove(draft, 2, -1))).toBe('acb');
    expect(withMove(draft, 0, -1)).toBe(draft);
    expect(withMove(draft, 2, 1)).toBe(draft);
  });

  it('gives a cell a key that no other has, also after the last was taken away', () => {
    const draft = withCell(withoutCell(toDraft(stored('a', 'b')), 0), { kind: 'markdown', text: 'c' });
    expect(draft.cells.map(({ key }) => key)).toEqual([1, 2]);
    expect(textsOf(withChange(draft, 1, { text: 'x' }))).toBe('xc');
  });

  it('is changed by content and order, and no more once it is stored', () => {
    const base = stored('a', 'b');
    const edit = beginEdit(base);
    expect(isChanged(edit)).toBe(false);
    expect(isChanged({ base, draft: withMove(edit.draft, 0, 1) })).toBe(true);
    expect(isChanged({ base, draft: { ...edit.draft, title: 'U' } })).toBe(true);
    const sent = withChange(withMove(edit.draft, 0, 1), 1, { text: 'secret' });
    const saved = withSaved({ base, draft: sent }, sent, { revision: 2, savedAt: 'now' });
    expect([isChanged(saved), saved.base.revision, saved.draft]).toEqual([false, 2, sent]);
    const redacted = withStored(saved, sent, { ...stored('[hidden]', 'a'), revision: 2 });
    expect(redacted.draft.cells.map(({ key, text }) => [key, text])).toEqual([
      [1, '[hidden]'],
      [0, 'a'],
    ]);
    expect(isChanged(redacted)).toBe(false);
    expect(toContent(redacted.draft)).toEqual({ title: 'T', cells: [cell('[hidden]'), cell('a')] });
  });

  it('keeps what is written while it is saved, and starts from what was sent', () => {
    const { base, draft: sent } = beginEdit(stored('a'));
    const written = withChange(sent, 0, { text: 'b' });
    const saved = withSaved({ base, draft: written }, sent, { revision: 2, savedAt: 'now' });
    const shown = withStored(saved, sent, { ...stored('a'), revision: 2 });
    expect([shown.base.revision, textsOf(shown.draft), isChanged(shown)]).toEqual([2, 'b', true]);
  });

  it('of two tabs: a later revision of the other never replaces a draft by itself, and theirs has cells of its own', () => {
    const { base, draft: sent } = beginEdit(stored('mine'));
    const saved = withSaved({ base, draft: sent }, sent, { revision: 2, savedAt: 'now' });
    const theirs = { ...stored('theirs', 'more'), revision: 3 };
    expect(withStored(saved, sent, theirs)).toBe(saved);
    const taken = withTheirs(saved, theirs);
    expect([taken.base.revision, textsOf(taken.draft), isChanged(taken)]).toEqual([3, 'theirsmore', false]);
    // A cell with the key of another would go on showing the answer of that.
    expect(taken.draft.cells.map(({ key }) => key)).toEqual([1, 2]);
  });
});
