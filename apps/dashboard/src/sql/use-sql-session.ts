import { useEffect, useRef, useState } from 'react';
import type { NotebookPlotBody } from '../api-types/schema';
import { useSearch, useShownMoment } from '../as-of/shown-moment';
import { offered } from '../components/select';
import { FIRST_QUERY } from './examples';
import { useKeptQueries } from './kept-queries';
import { RESULT_VIEWS, useQueryRuns, type ResultView } from './use-query-runs';

/**
 * The query in the editor, what ran last, and how its result is shown; the last two are kept in the address, so that they can be shared. What ran in this
 * browser before runs again when its address is opened; any other query waits for the button, since a page of somebody else may have the link.
 */
export function useSqlSession() {
  const [search, setSearch] = useSearch();
  const kept = useKeptQueries();
  const named = search.get('query');
  const [query, setQuery] = useState(() => named ?? kept.history.at(0)?.query ?? FIRST_QUERY);
  const runs = useQueryRuns();
  const [plot, setPlot] = useState<NotebookPlotBody | null>(null);
  const view = offered(RESULT_VIEWS, search.get('view')) ?? 'table';

  /** The query that this page put into the address itself. */
  const written = useRef<string | null>(null);
  const keepInAddress = (ran: string, shown: ResultView): void => {
    written.current = ran;
    setSearch(
      { ...(ran !== '' && { query: ran }), ...(shown === 'chart' && { view: 'chart' }) },
      { replace: true },
    );
  };
  /** Does nothing while another query runs. */
  const run = async (asked: string): Promise<void> => {
    if (runs.isBusy || asked.trim() === '') return;
    keepInAddress(asked, view);
    const result = await runs.run(asked);
    if (result !== null) kept.addRan({ query: asked, at: new Date().toISOString(), numRows: result.numRows });
  };

  // The page may be open already when its address comes to name another query, as from the palette.
  const opened = useRef<string | null>(null);
  useEffect(() => {
    if (named === opened.current) return;
    opened.current = named;
    if (named === null || named === written.current) return;
    written.current = named;
    setQuery(named);
    if (kept.history.some((ran) => ran.query === named)) void run(named);
  });

  // What is shown is of the moment that the page shows.
  const moment = useShownMoment();
  const shownAt = useRef(moment);
  useEffect(() => {
    if (moment === shownAt.current || runs.isBusy) return;
    shownAt.current = moment;
    const { isPlanShown, plan, sql } = runs;
    if (isPlanShown && plan.variables !== undefined) void runs.explain(plan.variables.query);
    else if (sql.variables !== undefined) void run(sql.variables.query);
  });

  return {
    ...{ query, setQuery, runs, kept, view, run, plot, setPlot },
    setView: (shown: ResultView) => {
      keepInAddress(named ?? '', shown);
    },
    /** Puts a query into the editor, and runs it. */
    pick: (picked: string) => {
      if (runs.isBusy) return;
      setQuery(picked);
      void run(picked);
    },
  };
}
