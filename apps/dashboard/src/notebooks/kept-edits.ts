import type { NotebookEdit } from './notebook-draft';

/**
 * Changes that are not saved, by notebook. The login form takes the place of the page when its key expires; the page that comes back after it gets them from
 * here. In memory only: whoever leaves the page or logs out is asked first.
 */
const kept = new Map<string, NotebookEdit>();

export function keepEdit(edit: NotebookEdit): void {
  kept.set(edit.base.notebookId, edit);
}

export function keptEdit(notebookId: string): NotebookEdit | null {
  return kept.get(notebookId) ?? null;
}

export function forgetEdit(notebookId: string): void {
  kept.delete(notebookId);
}

/** Asks whether unsaved changes may be lost, and forgets them; true where there are none. */
export function forgetEditsIfAllowed(): boolean {
  const question = 'A notebook has changes that are not saved. Log out without them?';
  if (kept.size > 0 && !window.confirm(question)) return false;
  kept.clear();
  return true;
}
