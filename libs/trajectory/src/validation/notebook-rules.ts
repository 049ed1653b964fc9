import type { ControlPayloads } from '../events/control-events.js';
import type { NotebookCell, NotebookPlot } from '../events/notebook-events.js';
import { integerAtLeast, listOf, nonEmptyText, nullable, objectOf, oneOf, text, uuid } from './rules.js';
import type { PayloadRules } from './rules.js';

const plot = objectOf<NotebookPlot>({ x: text, ys: listOf(text), by: nullable(text) });

const cell = objectOf<NotebookCell>({
  kind: oneOf('sql', 'markdown'),
  text,
  view: oneOf('table', 'chart'),
  plot: nullable(plot),
});

/** A rule for each field of the events of notebooks. */
export const NOTEBOOK_RULES: PayloadRules<Pick<ControlPayloads, 'NotebookSaved' | 'NotebookDeleted'>> = {
  NotebookSaved: {
    notebookId: uuid,
    revision: integerAtLeast(1),
    title: nonEmptyText,
    cells: listOf(cell),
    source: text,
  },
  NotebookDeleted: { notebookId: uuid, revision: integerAtLeast(2), source: text },
};
