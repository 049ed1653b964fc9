import { useEffect } from 'react';
import { type Location, useBlocker } from 'react-router';
import { momentIn } from '../as-of/moment';
import { forgetEdit, keepEdit } from './kept-edits';
import type { NotebookEdit } from './notebook-draft';

const QUESTION = 'The notebook has changes that are not saved. Leave it without them?';

/** Asks before a page with unsaved changes is left, and keeps them while the login form takes its place. */
export function useUnsaved(edit: NotebookEdit, isUnsaved: boolean): void {
  const { notebookId } = edit.base;
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isUnsaved && makePage(currentLocation) !== makePage(nextLocation),
  );
  useEffect(() => {
    if (blocker.state !== 'blocked') return;
    if (window.confirm(QUESTION)) {
      forgetEdit(notebookId);
      blocker.proceed();
    } else blocker.reset();
  }, [blocker, notebookId]);
  useEffect(() => {
    if (!isUnsaved) return;
    const ask = (event: BeforeUnloadEvent): void => {
      event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => {
      window.removeEventListener('beforeunload', ask);
    };
  }, [isUnsaved]);
  useEffect(() => {
    if (isUnsaved) keepEdit(edit);
    else forgetEdit(notebookId);
  }, [edit, isUnsaved, notebookId]);
}

/** The part of an address that decides which page is shown, and as of when: what else changes leaves the page as it is. */
function makePage({ pathname, search }: Location): string {
  return `${pathname} ${momentIn(new URLSearchParams(search)) ?? ''}`;
}
