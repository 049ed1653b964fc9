import { useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { readNotebook, useSaveNotebook } from '../api/notebook-queries';
import type { NotebookDetail } from '../api/schema';
import { contentOf, draftOf, isChanged, withStored, type NotebookDraft } from './notebook-draft';

/** A notebook that is edited: the revision it starts from, the draft, and what saves it. */
export function useNotebookEditor(opened: NotebookDetail) {
  const { notebookId } = opened;
  const [base, setBase] = useState(opened);
  const [draft, setDraft] = useState<NotebookDraft>(() => draftOf(opened));
  const newest = useRef(draft);
  useEffect(() => {
    newest.current = draft;
  });
  const saving = useSaveNotebook(notebookId);
  const theirs = useMutation({ mutationFn: () => readNotebook(notebookId) });

  const saveOver = (revision: number): void => {
    const sent = draft;
    if (saving.isPending || sent.title.trim() === '') return;
    const onSuccess = (stored: NotebookDetail): void => {
      // What was written meanwhile starts from what was sent, and not from what others may have saved since.
      const isUntouched = newest.current === sent;
      setBase(isUntouched ? stored : { ...stored, revision: revision + 1 });
      if (isUntouched) setDraft(withStored(sent, stored));
    };
    saving.mutate({ revision, ...contentOf(sent) }, { onSuccess });
  };
  return {
    ...{ base, draft, saving },
    change: useCallback((by: (draft: NotebookDraft) => NotebookDraft) => {
      setDraft(by);
    }, []),
    isChanged: isChanged(draft, base),
    save: () => {
      saveOver(base.revision);
    },
    /** Puts what others saved in place of the draft. */
    takeTheirs: () => {
      theirs.mutate(undefined, {
        onSuccess: (stored) => {
          saving.reset();
          setBase(stored);
          setDraft(draftOf(stored));
        },
      });
    },
    /** Saves the draft as the revision after the one that others saved. */
    saveOverTheirs: () => {
      theirs.mutate(undefined, {
        onSuccess: ({ revision }) => {
          saveOver(revision);
        },
      });
    },
  };
}

export type NotebookEditorState = ReturnType<typeof useNotebookEditor>;
