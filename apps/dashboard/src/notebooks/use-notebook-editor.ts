import { useMutation } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { ApiProblem } from '../api/api-problem';
import { readNotebook, useCreateNotebook, useSaveNotebook } from '../api/notebook-queries';
import type { NotebookDetail } from '../api-types/schema';
import { keptEdit } from './kept-edits';
import {
  toContent,
  beginEdit,
  isChanged,
  withSaved,
  withStored,
  withTheirs,
  type NotebookDraft,
} from './notebook-draft';

/** A notebook that is edited, and what saves it. Of an earlier moment it is only shown. */
export function useNotebookEditor(opened: NotebookDetail, isOfNow: boolean) {
  const { notebookId } = opened;
  const [edit, setEdit] = useState(() => (isOfNow ? keptEdit(notebookId) : null) ?? beginEdit(opened));
  const { base, draft } = edit;
  const isUnsaved = isOfNow && isChanged(edit);
  const saving = useSaveNotebook(notebookId);
  const copying = useCreateNotebook();
  /** Asked for once a save was refused, so that the choice names the revision that it is about. */
  const theirs = useMutation({ mutationFn: () => readNotebook(notebookId) });

  const showStored = async (sent: NotebookDraft): Promise<void> => {
    const stored = await readNotebook(notebookId).catch(() => null);
    // It is saved all the same; the next page that opens it shows it as it is stored.
    if (stored !== null) setEdit((current) => withStored(current, sent, stored));
  };
  const saveOver = (revision: number): void => {
    if (saving.isPending || draft.title.trim() === '') return;
    const sent = draft;
    saving.mutate(
      { revision, ...toContent(sent) },
      {
        onSuccess: (saved) => {
          const savedAt = new Date().toISOString();
          setEdit((current) => withSaved(current, sent, { revision: saved.revision, savedAt }));
          void showStored(sent);
        },
        onError: (error) => {
          if (isConflict(error)) theirs.mutate();
        },
      },
    );
  };
  return {
    ...{ edit, base, draft, isUnsaved, saving, copying, theirs },
    change: useCallback((by: (draft: NotebookDraft) => NotebookDraft) => {
      setEdit((current) => ({ ...current, draft: by(current.draft) }));
    }, []),
    save: () => {
      if (isUnsaved) saveOver(base.revision);
    },
    /** Puts what others saved in place of the draft. */
    takeTheirs: (stored: NotebookDetail) => {
      saving.reset();
      setEdit((current) => withTheirs(current, stored));
    },
    /** Saves the draft after a revision that others saved, and no later one. */
    saveOver,
  };
}

export type NotebookEditorState = ReturnType<typeof useNotebookEditor>;

/** Whether a save was refused because others have saved the notebook. */
export function isConflict(error: Error): boolean {
  return error instanceof ApiProblem && error.code === 'NOTEBOOK_CONFLICT';
}
