import { useState } from 'react';
import { keepItems, keptItems } from './kept-list';

const KEY = 'retrace.hiddenColumns';
const FIELDS = { name: 'string' } as const;

/** The ids of the columns of a table that this browser hides, and a function that changes them. */
export function useHiddenColumns(table: string) {
  const key = `${KEY}.${table}`;
  const [hiddenIds, setHiddenIds] = useState(() =>
    keptItems<{ readonly name: string }>(key, FIELDS).map(({ name }) => name),
  );
  const hide = (ids: readonly string[]): void => {
    keepItems(
      key,
      ids.map((name) => ({ name })),
    );
    setHiddenIds([...ids]);
  };
  return [hiddenIds, hide] as const;
}
