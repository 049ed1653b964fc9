import { useEffect, useRef, useState } from 'react';
import { useSearch, useShownMoment } from '../as-of/shown-moment';
import { useSql } from '../api/queries';
import { offered } from '../components/select';
import { FIRST_QUERY } from './examples';
import { useKeptQueries } from './kept-queries';

/** How a result is shown. */
export const RESULT_VIEWS = [
  { value: 'table', label: 'Table' },
  { value: 'chart', label: 'Chart' },
] as const;

export type ResultView = (typeof RESULT_VIEWS)[number]['value'];

/**
 * The query in the editor, what ran last, and how its result is shown; the last two are kept in the address, so that they can be shared. What ran in this
 * browser before runs again when its address is opened; any other query waits for the button, since a page of somebody else may have the link.
 */
export function useSqlSession() {
  const [search, setSearch] = useSearch();
  const kept = useKeptQueries();
  const [query, setQuery] = useState(() => search.get('query') ?? kept.history.at(0)?.query ?? FIRST_QUERY);
  const [maxRows, setMaxRows] = useState('1000');
  const sql = useSql();
  const view = offered(RESULT_VIEWS, search.get('view')) ?? 'table';

  const keepInAddress = (ran: string, shown: ResultView): void => {
    setSearch(
      { ...(ran !== '' && { query: ran }), ...(shown === 'chart' && { view: 'chart' }) },
      { replace: true },
    );
  };
  /** Does nothing while another query runs. */
  const run = (asked: string): void => {
    if (sql.isPending || asked.trim() === '') return;
    keepInAddress(asked, view);
    const onSuccess = ({ numRows }: { readonly numRows: number }) => {
      kept.addRan({ query: asked, at: new Date().toISOString(), numRows });
    };
    sql.mutate({ query: asked, maxRows: Number(maxRows) }, { onSuccess });
  };

  const opened = useRef(kept.history.find((ran) => ran.query === search.get('query'))?.query ?? null);
  const runOpened = useRef(run);
  useEffect(() => {
    if (opened.current !== null) runOpened.current(opened.current);
    opened.current = null;
  }, []);

  // What is shown is of the moment that the page shows.
  const moment = useShownMoment();
  const shownAt = useRef(moment);
  useEffect(() => {
    if (moment === shownAt.current || sql.isPending) return;
    shownAt.current = moment;
    if (sql.variables !== undefined) run(sql.variables.query);
  });

  return {
    ...{ query, setQuery, maxRows, setMaxRows, sql, kept, view, run },
    setView: (shown: ResultView) => {
      keepInAddress(search.get('query') ?? '', shown);
    },
    /** Puts a query into the editor, and runs it. */
    pick: (picked: string) => {
      if (sql.isPending) return;
      setQuery(picked);
      run(picked);
    },
  };
}
