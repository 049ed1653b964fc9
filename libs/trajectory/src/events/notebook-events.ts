import {
  integerAtLeast,
  listOf,
  nonEmptyText,
  nullable,
  objectOf,
  oneOf,
  type PayloadsOf,
  text,
  uuid,
} from '../fields/field.js';
import { marked } from '../fields/kind-marks.js';

/** Which columns of a result a chart shows, by their names. */
const plot = objectOf({
  x: text,
  ys: listOf(text),
  /** Rows with the same value of this column are one line; null: all rows are. */
  by: nullable(text),
});

const cell = objectOf({
  kind: oneOf('sql', 'markdown'),
  /** The query, or the text. */
  text,
  /** How a result is shown. `table` in cells of text. */
  view: oneOf('table', 'chart'),
  /** null: as the page chooses by the result. */
  plot: nullable(plot),
});

/** The fields of the events of notebooks. */
export const NOTEBOOK_EVENTS = {
  /**
   * A notebook as it is from then on, whole. Belongs to no run.
   *
   * Of several events with one revision of a notebook the first in log order counts, so that of two writers who start from the same revision one is refused.
   */
  NotebookSaved: marked(['runless'], {
    notebookId: uuid,
    /** 1 for its first content, then one more than the revision that the writer had read. */
    revision: integerAtLeast(1),
    title: nonEmptyText,
    cells: listOf(cell),
    /** Who or what saved it, as the writer calls itself. */
    source: text,
  }),

  /** A notebook ends: lists leave it out, and nothing is saved to it any more. Takes a revision as `NotebookSaved` does. */
  NotebookDeleted: marked(['runless'], {
    notebookId: uuid,
    revision: integerAtLeast(2),
    source: text,
  }),
};

export type NotebookSaved = PayloadsOf<typeof NOTEBOOK_EVENTS>['NotebookSaved'];
export type NotebookDeleted = PayloadsOf<typeof NOTEBOOK_EVENTS>['NotebookDeleted'];
export type NotebookCell = (typeof cell)['value'];
export type NotebookPlot = (typeof plot)['value'];
