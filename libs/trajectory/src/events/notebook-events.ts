/** Which columns of a result a chart shows, by their names. */
export interface NotebookPlot {
  readonly x: string;
  readonly ys: readonly string[];
  /** Rows with the same value of this column are one line; null: all rows are. */
  readonly by: string | null;
}

export interface NotebookCell {
  readonly kind: 'sql' | 'markdown';
  /** The query, or the text. */
  readonly text: string;
  /** How a result is shown. `table` in cells of text. */
  readonly view: 'table' | 'chart';
  /** null: as the page chooses by the result. */
  readonly plot: NotebookPlot | null;
}

/**
 * A notebook as it is from then on, whole. Belongs to no run.
 *
 * Of several events with one revision of a notebook the first in log order counts, so that of two writers who start from the same revision one is refused.
 */
export interface NotebookSaved {
  readonly notebookId: string;
  /** 1 for its first content, then one more than the revision that the writer had read. */
  readonly revision: number;
  readonly title: string;
  readonly cells: readonly NotebookCell[];
  /** Who or what saved it, as the writer calls itself. */
  readonly source: string;
}

/** A notebook ends: lists leave it out, and nothing is saved to it any more. Takes a revision as `NotebookSaved` does. */
export interface NotebookDeleted {
  readonly notebookId: string;
  readonly revision: number;
  readonly source: string;
}
