import { useEffect } from 'react';
import { useBlocker } from 'react-router';

const QUESTION = 'The notebook has changes that are not saved. Leave it without them?';

/** Asks before a page with unsaved changes is left. */
export function useUnsaved(isUnsaved: boolean): void {
  const blocker = useBlocker(isUnsaved);
  useEffect(() => {
    if (blocker.state !== 'blocked') return;
    if (window.confirm(QUESTION)) blocker.proceed();
    else blocker.reset();
  }, [blocker]);
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
}
