import { useState } from 'react';

export interface Paging {
  /** Cursor of the page that is shown; null for the first. */
  readonly cursor: string | null;
  /** 1, 2, … */
  readonly pageNumber: number;
  goTo(nextCursor: string): void;
  goBack(): void;
}

/**
 * Walks a cursor-paginated list forth and back by remembering the cursors on the way.
 *
 * @param listKey identifies the list; another list starts at its first page
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
