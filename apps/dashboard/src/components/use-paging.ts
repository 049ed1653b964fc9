import { useState } from 'react';

export interface Paging {
  /** Cursor of the current page; null for the first page. */
  readonly cursor: string | null;
  /** Counted from 1. */
  readonly pageNumber: number;
  goTo(nextCursor: string): void;
  goBack(): void;
}

/**
 * Remembers the cursors of the pages that were visited, because the API gives only the cursor of the next page.
 *
 * @param listKey identifies the list; a change goes back to the first page
 */
export function usePaging(listKey: string): Paging {
  const [trail, setTrail] = useState<{ readonly listKey: string; readonly cursors: readonly string[] }>({
    listKey,
    cursors: [],
  });
  const cursors = trail.listKey === listKey ? trail.cursors : [];
  return {
    cursor: cursors.at(-1) ?? null,
    pageNumber: cursors.length + 1,
    goTo: (nextCursor) => {
      setTrail({ listKey, cursors: [...cursors, nextCursor] });
    },
    goBack: () => {
      setTrail({ listKey, cursors: cursors.slice(0, -1) });
    },
  };
}
