import { useEffect, useRef } from 'react';
import type { NotebookCellBody, SqlTable } from '../api-types/schema';
import { QueryCell } from '../sql/query-cell';
import { useQueryRuns } from '../sql/use-query-runs';

interface SqlCellProps {
  readonly label: string;
  readonly cell: NotebookCellBody;
  readonly tables: readonly SqlTable[];
  readonly onChange: (changes: Partial<NotebookCellBody>) => void;
  /** Gets the function that runs the cell, and null once the cell is gone. */
  readonly onRunner: (run: (() => Promise<unknown>) | null) => void;
}

/** A cell with a query, its answer, and how that is shown. */
export function SqlCell({ label, cell: { text, view, plot }, tables, onChange, onRunner }: SqlCellProps) {
  const runs = useQueryRuns();
  const run = () => runs.run(text);
  const newest = useRef(run);
  const announce = useRef(onRunner);
  useEffect(() => {
    newest.current = run;
    announce.current = onRunner;
  });
  useEffect(() => {
    announce.current(() => newest.current());
    return () => {
      announce.current(null);
    };
  }, []);
  return (
    <QueryCell
      {...{ label, tables, runs, view, plot }}
      query={text}
      isSmall
      onRun={() => void run()}
      onChange={(query) => {
        onChange({ text: query });
      }}
      onView={(shown) => {
        onChange({ view: shown });
      }}
      onPlot={(chosen) => {
        onChange({ plot: chosen });
      }}
    />
  );
}
