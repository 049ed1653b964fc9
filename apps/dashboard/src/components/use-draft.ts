import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 250;

/**
 * A value that is edited here and applied a moment after the last change, since the address of a page, which keeps it, changes too late for what is typed.
 *
 * @param applied the value that is in force; where another one comes to be, it replaces what was edited
 */
export function useDraft<Value>(
  applied: Value,
  apply: (value: Value) => void,
): [Value, (value: Value) => void] {
  const [draft, setDraft] = useState(applied);
  const newest = useRef(apply);
  const ownChange = useRef(applied);
  useEffect(() => {
    newest.current = apply;
  });
  useEffect(() => {
    // The address comes to have what was applied here while more is typed.
    if (applied !== ownChange.current) setDraft(applied);
    ownChange.current = applied;
  }, [applied]);
  useEffect(() => {
    if (draft === applied) return;
    const timer = setTimeout(() => {
      ownChange.current = draft;
      newest.current(draft);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [draft, applied]);
  return [draft, setDraft];
}
