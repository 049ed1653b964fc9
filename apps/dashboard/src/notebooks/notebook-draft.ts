import type { NotebookCellBody, NotebookDetail } from '../api/schema';

/** A cell that is edited; its key stays through moves and saves. */
export interface DraftCell extends NotebookCellBody {
  readonly key: number;
}

/** A notebook as a page shows it, saved or not. */
export interface NotebookDraft {
  readonly title: string;
  readonly cells: readonly DraftCell[];
}

export const MAX_CELLS = 100;

export function draftOf({ title, cells }: Pick<NotebookDetail, 'title' | 'cells'>): NotebookDraft {
  return { title, cells: cells.map((cell, key) => ({ ...cell, key })) };
}

/** The draft as it was stored: its cells have the stored content and keep their keys. */
export function withStored(draft: NotebookDraft, stored: NotebookDetail): NotebookDraft {
  return {
    title: stored.title,
    cells: stored.cells.map((cell, i) => ({ ...cell, key: draft.cells[i]?.key ?? nextKey(draft) + i })),
  };
}

/** The part of a draft that is saved. */
export function contentOf({ title, cells }: NotebookDraft): Pick<NotebookDetail, 'title' | 'cells'> {
  return { title, cells: cells.map(({ key: _, ...cell }) => cell) };
}

/** Whether a draft differs from what is stored. */
export function isChanged(draft: NotebookDraft, { title, cells }: NotebookDetail): boolean {
  return JSON.stringify(contentOf(draft)) !== JSON.stringify(contentOf(draftOf({ title, cells })));
}

/** Adds a cell at the end. */
export function withCell(
  draft: NotebookDraft,
  { kind, text }: Pick<NotebookCellBody, 'kind' | 'text'>,
): NotebookDraft {
  const cell: DraftCell = { kind, text, view: 'table', plot: null, key: nextKey(draft) };
  return { ...draft, cells: [...draft.cells, cell] };
}

export function withChange(
  draft: NotebookDraft,
  key: number,
  changes: Partial<NotebookCellBody>,
): NotebookDraft {
  const cells = draft.cells.map((cell) => (cell.key === key ? { ...cell, ...changes } : cell));
  return { ...draft, cells };
}

export function withoutCell(draft: NotebookDraft, key: number): NotebookDraft {
  return { ...draft, cells: draft.cells.filter((cell) => cell.key !== key) };
}

/** Moves a cell one place up (−1) or down (1); the first and the last stay where they are. */
export function withMove(draft: NotebookDraft, key: number, by: -1 | 1): NotebookDraft {
  const from = draft.cells.findIndex((cell) => cell.key === key);
  const to = from + by;
  if (from < 0 || to < 0 || to >= draft.cells.length) return draft;
  const cells = [...draft.cells];
  [cells[from], cells[to]] = [cells[to], cells[from]];
  return { ...draft, cells };
}

function nextKey({ cells }: NotebookDraft): number {
  return cells.reduce((most, { key }) => Math.max(most, key + 1), 0);
}
