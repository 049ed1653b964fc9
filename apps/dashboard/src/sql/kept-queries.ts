import { useState } from 'react';

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

/** Saves a query under a name, in place of the one that has it, in the order of names. */
export function withSaved(saved: readonly SavedQuery[], one: SavedQuery): readonly SavedQuery[] {
  return [...saved.filter(({ name }) => name !== one.name), one].sort((a, b) => a.name.localeCompare(b.name));
}

/** Reads a list that this or another version of the page wrote; what is not of this form is left out. */
export function readKept<Item>(
  text: string | null,
  fields: Readonly<Record<keyof Item, string>>,
): readonly Item[] {
  let list: unknown;
  try {
    list = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  const isItem = (item: unknown): item is Item =>
    typeof item === 'object' &&
    item !== null &&
    Object.entries(fields).every(([name, type]) => typeof (item as Record<string, unknown>)[name] === type);
  return Array.isArray(list) ? list.filter(isItem) : [];
}

/** The queries that ran in this browser, newest first, and those that were saved in it. Other tabs keep theirs in the same place. */
export function useKeptQueries() {
  const [history, setHistory] = useState(readHistory);
  const [saved, setSaved] = useState(readSaved);
  const keepSaved = (queries: readonly SavedQuery[]): void => {
    keep(SAVED_KEY, queries);
    setSaved(queries);
  };
  return {
    ...{ history, saved },
    addRan: (ran: RanQuery) => {
      const queries = withRan(readHistory(), ran);
      keep(HISTORY_KEY, queries);
      setHistory(queries);
    },
    save: (one: SavedQuery) => {
      keepSaved(withSaved(readSaved(), one));
    },
    forget: (name: string) => {
      keepSaved(readSaved().filter((one) => one.name !== name));
    },
  };
}

function readHistory(): readonly RanQuery[] {
  return readKept<RanQuery>(kept(HISTORY_KEY), { query: 'string', at: 'string', numRows: 'number' });
}

function readSaved(): readonly SavedQuery[] {
  return readKept<SavedQuery>(kept(SAVED_KEY), { name: 'string', query: 'string' });
}

/** A browser that keeps nothing still runs queries. */
function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key: string, queries: readonly unknown[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(queries));
  } catch {
    // They are there until the page is left.
  }
}
