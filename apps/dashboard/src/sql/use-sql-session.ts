import { useEffect, useRef, useState } from 'react';
import type { NotebookPlotBody } from '../api/schema';
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
  const [query, setQuery] = useState(() => search.get('query') ?? kept.history.at(0)?.query ?? FIRST_QUERY);
  const runs = useQueryRuns();
  const [plot, setPlot] = useState<NotebookPlotBody | null>(null);
  const view = offered(RESULT_VIEWS, search.get('view')) ?? 'table';

  const keepInAddress = (ran: string, shown: ResultView): void => {
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

  const opened = useRef(kept.history.find((ran) => ran.query === search.get('query'))?.query ?? null);
  const runOpened = useRef(run);
  useEffect(() => {
    if (opened.current !== null) void runOpened.current(opened.current);
    opened.current = null;
  }, []);

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
      keepInAddress(search.get('query') ?? '', shown);
    },
    /** Puts a query into the editor, and runs it. */
    pick: (picked: string) => {
      if (runs.isBusy) return;
      setQuery(picked);
      void run(picked);
    },
  };
}
