import type { Examples } from './example.js';

const NOTEBOOK = {
  notebookId: '01a22902-8e11-7b40-9c6a-0f4e5d3c2b1a',
  revision: 2,
  title: 'Does it learn?',
};

const CELLS = [
  { kind: 'markdown', text: '# Success\n\nOf the newest run.', view: 'table', plot: null },
  {
    kind: 'sql',
    text: "SELECT step, value FROM metrics WHERE run_id = (SELECT max(run_id) FROM runs) AND name = 'rollout/success' ORDER BY step",
    view: 'chart',
    plot: { x: 'step', ys: ['value'], by: null },
  },
];

const LISTED = {
  ...NOTEBOOK,
  numCells: 2,
  source: 'dashboard',
  createdAt: '2026-11-29T17:02:11.301000Z',
  savedAt: '2026-11-29T17:05:40.115000Z',
};

/** Examples of notebooks. */
export const NOTEBOOK_EXAMPLES: Examples = {
  'GET /api/notebooks': { response: { items: [LISTED], nextCursor: null } },
  'GET /api/notebooks/{notebookId}': { response: { ...LISTED, cells: CELLS } },
  'POST /api/notebooks': {
    request: { title: 'Does it learn?', cells: [{ kind: 'sql', text: 'SELECT count() FROM episodes' }] },
    response: { notebookId: NOTEBOOK.notebookId, revision: 1 },
  },
  'PUT /api/notebooks/{notebookId}': {
    request: { revision: 1, title: NOTEBOOK.title, cells: CELLS, source: 'dashboard' },
    response: { notebookId: NOTEBOOK.notebookId, revision: 2 },
  },
  'DELETE /api/notebooks/{notebookId}': {
    response: { notebookId: NOTEBOOK.notebookId, revision: 3 },
  },
};
