import type { NotebookCell, NotebookPlot } from '@retrace/trajectory';
import { integer, listOf, name, objectSchema, text, uuid, word, type Schema } from '../wire/schema.js';

/** Makes a notebook. */
export interface CreateNotebookRequest {
  /** A lower-case UUID that makes the request idempotent; left out = a new one. */
  readonly id?: string;
  readonly title: string;
  readonly cells: readonly CellRequest[];
  readonly source?: string;
}

/** The whole content of a notebook, in place of what it had. */
export interface SaveNotebookRequest extends Omit<CreateNotebookRequest, 'id'> {
  /** The revision that the writer had read. */
  readonly revision: number;
}

export type CellRequest = Pick<NotebookCell, 'kind' | 'text'> &
  Partial<Pick<NotebookCell, 'view'>> & { readonly plot?: NotebookPlot | null };

const MAX_CELLS = 100;
const MAX_TEXT_LENGTH = 65_536;
const MAX_TITLE_LENGTH = 200;
/** Lines of a chart, as the page draws them. */
const MAX_LINES = 12;

/** The store names a column without a name by its expression, which may be most of the query. */
const columnName = (description: string): Schema => text(description, { maxLength: MAX_TEXT_LENGTH });

const CELL = objectSchema<CellRequest>(
  {
    kind: word(['sql', 'markdown'], 'A query, or text in Markdown'),
    text: text('The query, or the text', { maxLength: MAX_TEXT_LENGTH }),
    view: word(['table', 'chart'], 'How the page shows the result', { default: 'table' }),
    plot: {
      ...objectSchema<NotebookPlot>(
        {
          x: columnName('Column of the axis'),
          ys: listOf(columnName('A column'), 'Columns that are drawn', { maxItems: MAX_LINES }),
          by: { ...columnName('Rows with the same value of this column are one line'), nullable: true },
        },
        ['x', 'ys', 'by'],
        'Columns of the chart; null: the page chooses by the result',
      ),
      nullable: true,
    },
  },
  ['kind', 'text'],
);

const CONTENT = {
  title: name('Title', { maxLength: MAX_TITLE_LENGTH }),
  cells: listOf(CELL, 'Cells in their order; at most 262,144 characters of JSON in all', {
    maxItems: MAX_CELLS,
  }),
  source: text('Who or what writes', { maxLength: 256, default: 'caller' }),
};

/** The revision that is written is one more, and must be exact, too. */
export const MAX_REVISION_READ = Number.MAX_SAFE_INTEGER - 1;

export const CREATE_NOTEBOOK_REQUEST = objectSchema<CreateNotebookRequest>(
  {
    id: uuid('A lower-case UUID, which makes the request idempotent. Default: a new one'),
    ...CONTENT,
  },
  ['title', 'cells'],
);

export const SAVE_NOTEBOOK_REQUEST = objectSchema<SaveNotebookRequest>(
  {
    revision: integer('The revision that the writer had read; another one is refused', {
      minimum: 1,
      maximum: MAX_REVISION_READ,
    }),
    ...CONTENT,
  },
  ['revision', 'title', 'cells'],
);
