import type { NotebookCellBody, NotebookDetail } from '../api-types/schema';

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

/** A notebook that is edited: the revision that the draft starts from, and the draft. */
export interface NotebookEdit {
  readonly base: NotebookDetail;
  readonly draft: NotebookDraft;
}

export function toDraft(
  { title, cells }: Pick<NotebookDetail, 'title' | 'cells'>,
  firstKey = 0,
): NotebookDraft {
  return { title, cells: cells.map((cell, i) => ({ ...cell, key: firstKey + i })) };
}

export function beginEdit(stored: NotebookDetail): NotebookEdit {
  return { base: stored, draft: toDraft(stored) };
}

/** The edit after the store took a draft as a revision; what was written meanwhile is not saved yet. */
export function withSaved(
  { base, draft }: NotebookEdit,
  sent: NotebookDraft,
  saved: Pick<NotebookDetail, 'revision' | 'savedAt'>,
): NotebookEdit {
  return { base: { ...base, ...toContent(sent), numCells: sent.cells.length, ...saved }, draft };
}

/**
 * The edit with its revision as it is stored, where rules of redaction may have hidden something; cells keep their keys. Without effect where others have
 * saved a later revision, which this draft does not start from.
 */
export function withStored(edit: NotebookEdit, sent: NotebookDraft, stored: NotebookDetail): NotebookEdit {
  if (stored.revision !== edit.base.revision) return edit;
  if (edit.draft !== sent) return { ...edit, base: stored };
  const cells = stored.cells.map((cell, i) => ({ ...cell, key: sent.cells[i].key }));
  return { base: stored, draft: { title: stored.title, cells } };
}

/** Puts what others saved in place of the draft. Its cells have new keys, so that none shows the answer to a query of the draft. */
export function withTheirs({ draft }: NotebookEdit, theirs: NotebookDetail): NotebookEdit {
  return { base: theirs, draft: toDraft(theirs, nextKey(draft)) };
}

/** The part of a draft that is saved. */
export function toContent({ title, cells }: NotebookDraft): Pick<NotebookDetail, 'title' | 'cells'> {
  return { title, cells: cells.map(({ key: _, ...cell }) => cell) };
}

/** Whether the draft differs from what is stored. */
export function isChanged({ base, draft }: NotebookEdit): boolean {
  return JSON.stringify(toContent(draft)) !== JSON.stringify(toContent(toDraft(base)));
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
