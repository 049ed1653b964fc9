import {
  integer,
  listOf,
  name,
  nullable,
  objectSchema,
  text,
  uuid,
  type ValueOf,
  word,
} from '../wire/schema.js';

const MAX_CELLS = 100;
const MAX_TEXT_LENGTH = 65_536;
const MAX_TITLE_LENGTH = 200;
/** Lines of a chart, as the page draws them. */
const MAX_LINES = 12;

/** The store names a column without a name by its expression, which may be most of the query. */
const columnName = (description: string) => text(description, { maxLength: MAX_TEXT_LENGTH });

const CELL = objectSchema(
  {
    kind: word(['sql', 'markdown'], 'A query, or text in Markdown'),
    text: text('The query, or the text', { maxLength: MAX_TEXT_LENGTH }),
    view: word(['table', 'chart'], 'How the page shows the result', { default: 'table' }),
    plot: nullable(
      objectSchema(
        {
          x: columnName('Column of the axis'),
          ys: listOf(columnName('A column'), 'Columns that are drawn', { maxItems: MAX_LINES }),
          by: nullable(columnName('Rows with the same value of this column are one line')),
        },
        ['x', 'ys', 'by'],
        'Columns of the chart; null: the page chooses by the result',
      ),
    ),
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

export const CREATE_NOTEBOOK_REQUEST = objectSchema(
  {
    id: uuid('A lower-case UUID, which makes the request idempotent. Default: a new one'),
    ...CONTENT,
  },
  ['title', 'cells'],
);

export const SAVE_NOTEBOOK_REQUEST = objectSchema(
  {
    revision: integer('The revision that the writer had read; another one is refused', {
      minimum: 1,
      maximum: MAX_REVISION_READ,
    }),
    ...CONTENT,
  },
  ['revision', 'title', 'cells'],
);

export type CellRequest = ValueOf<typeof CELL>;
/** Makes a notebook. */
export type CreateNotebookRequest = ValueOf<typeof CREATE_NOTEBOOK_REQUEST>;
/** The whole content of a notebook, in place of what it had. */
export type SaveNotebookRequest = ValueOf<typeof SAVE_NOTEBOOK_REQUEST>;
