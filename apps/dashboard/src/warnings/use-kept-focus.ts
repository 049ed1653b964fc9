import { type FocusEvent, useEffect, useRef } from 'react';

/**
 * Keeps the focus inside an element whose focused button goes away: it moves to the first button that is there then, or to the element
 * itself, which `tabIndex` lets take it. Without it, the keyboard would start
 * again at the top of the page.
 *
 * @param content changes when buttons come or go
 */
export function useKeptFocus(content: string) {
  const ref = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  useEffect(() => {
    if (!hasFocus.current || document.activeElement !== document.body) return;
    (ref.current?.querySelector('button') ?? ref.current)?.focus({ preventScroll: true });
  }, [content]);
  return {
    ref,
    onFocus: () => {
      hasFocus.current = true;
    },
    onBlur: ({ relatedTarget }: FocusEvent) => {
      // A button that is removed has no successor.
      if (relatedTarget !== null) hasFocus.current = false;
    },
  };
}
