import { useRef, useState } from 'react';
import { useExplain, useSql } from '../api/sql-queries';
import type { SqlResult } from '../api-types/schema';

/** How a result is shown. */
export const RESULT_VIEWS = [
  { value: 'table', label: 'Table' },
  { value: 'chart', label: 'Chart' },
] as const;

export type ResultView = (typeof RESULT_VIEWS)[number]['value'];

export type QueryRuns = ReturnType<typeof useQueryRuns>;

/** Runs and explains the queries of one editor, one at a time, and keeps the last answer. */
export function useQueryRuns() {
  const [maxRows, setMaxRows] = useState('1000');
  const sql = useSql();
  const plan = useExplain();
  const [isPlanShown, setPlanShown] = useState(false);
  // The state of a mutation is that of the last rendering.
  const isBusy = useRef(false);

  const once = async <Answer>(ask: () => Promise<Answer>): Promise<Answer | null> => {
    if (isBusy.current) return null;
    isBusy.current = true;
    try {
      return await ask();
    } catch {
      // The answer shows the error.
      return null;
    } finally {
      isBusy.current = false;
    }
  };
  return {
    ...{ maxRows, setMaxRows, sql, plan, isPlanShown },
    isBusy: sql.isPending || plan.isPending,
    /** Returns null where the query failed, is empty, or had to wait for another one. */
    run: async (query: string): Promise<SqlResult | null> => {
      if (query.trim() === '') return null;
      return once(() => {
        setPlanShown(false);
        return sql.mutateAsync({ query, maxRows: Number(maxRows) });
      });
    },
    explain: async (query: string): Promise<void> => {
      if (query.trim() === '') return;
      await once(() => {
        setPlanShown(true);
        return plan.mutateAsync({ query });
      });
    },
  };
}
