import { useState } from 'react';
import { keepItems, keptItems, withNamed } from '../components/kept-list';

/** A query that ran in this browser. */
export interface RanQuery {
  readonly query: string;
  /** ISO 8601. */
  readonly at: string;
  readonly numRows: number;
}

export interface SavedQuery {
  readonly name: string;
  readonly query: string;
}

export const MAX_HISTORY = 50;
const HISTORY_KEY = 'retrace.sql.history';
const SAVED_KEY = 'retrace.sql.saved';

/** Puts a query first; it is in the history once. */
export function withRan(history: readonly RanQuery[], ran: RanQuery): readonly RanQuery[] {
  return [ran, ...history.filter(({ query }) => query !== ran.query)].slice(0, MAX_HISTORY);
}

/** The queries that ran in this browser, newest first, and those that were saved in it. Other tabs keep theirs in the same place. */
export function useKeptQueries() {
  const [history, setHistory] = useState(readHistory);
  const [saved, setSaved] = useState(readSaved);
  const keepSaved = (queries: readonly SavedQuery[]): void => {
    keepItems(SAVED_KEY, queries);
    setSaved(queries);
  };
  return {
    ...{ history, saved },
    addRan: (ran: RanQuery) => {
      const queries = withRan(readHistory(), ran);
      keepItems(HISTORY_KEY, queries);
      setHistory(queries);
    },
    save: (one: SavedQuery) => {
      keepSaved(withNamed(readSaved(), one));
    },
    forget: (name: string) => {
      keepSaved(readSaved().filter((one) => one.name !== name));
    },
  };
}

function readHistory(): readonly RanQuery[] {
  return keptItems<RanQuery>(HISTORY_KEY, { query: 'string', at: 'string', numRows: 'number' });
}

function readSaved(): readonly SavedQuery[] {
  return keptItems<SavedQuery>(SAVED_KEY, { name: 'string', query: 'string' });
}
