import { appendEvents } from '@retrace/log/testing';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotebookDetail, NotebookListItem, SavedNotebook } from '../notebooks/notebooks.dto.js';
import type { Page } from '../paging/page.js';
import type { SqlResult } from '../sql/sql.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';

const QUERY = { kind: 'sql', text: 'SELECT 1 AS x, 2 AS y' };
const TEXT = { kind: 'markdown', text: '# Success' };
const PLOT = { x: 'x', ys: ['y'], by: null };

let fixture: ApiFixture;

beforeAll(async () => {
  fixture = await ApiFixture.start();
});

afterAll(async () => {
  await fixture?.close();
});

async function make(title: string, cells: readonly object[] = [QUERY]): Promise<SavedNotebook> {
  const response = await fixture.post('/api/notebooks', { title, cells });
  expect(response.status).toBe(201);
  return (await response.json()) as SavedNotebook;
}

const addressOf = ({ notebookId }: SavedNotebook) => `/api/notebooks/${notebookId}`;

const save = (notebook: SavedNotebook, revision: number, content: object) =>
  fixture.put(addressOf(notebook), { revision, title: 'saved', cells: [], ...content });

describe('notebooks', () => {
  it('are read as they were saved, at once, and have one more revision with each save', async () => {
    const made = await make('Does it learn?', [TEXT, QUERY]);
    expect(made.revision).toBe(1);
    const plotted = { ...QUERY, view: 'chart', plot: PLOT };
    const response = await save(made, 1, { title: 'It learns', cells: [plotted, TEXT], source: 'ann' });
    expect([response.status, await response.json()]).toEqual([200, { ...made, revision: 2 }]);
    expect(await fixture.getJson<NotebookDetail>(addressOf(made))).toMatchObject({
      ...{ notebookId: made.notebookId, revision: 2, title: 'It learns', numCells: 2, source: 'ann' },
      cells: [plotted, { ...TEXT, view: 'table', plot: null }],
    });
  });

  it('refuse a save of an earlier revision with both revisions, and keep what is there', async () => {
    const made = await make('two tabs');
    expect((await save(made, 1, { title: 'first tab' })).status).toBe(200);
    const response = await save(made, 1, { title: 'second tab' });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      code: 'NOTEBOOK_CONFLICT',
      errors: [{ field: 'revision', value: 1, rule: 'must be 2, the newest revision' }],
    });
    expect((await fixture.getJson<NotebookDetail>(addressOf(made))).title).toBe('first tab');
    expect((await save(made, 3, {})).status).toBe(409);
  });

  it('take the first of two saves that are sent at once', { tags: 'release' }, async () => {
    const made = await make('race');
    const answers = await Promise.all(['a', 'b'].map((title) => save(made, 1, { title })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = answers.findIndex(({ status }) => status === 200);
    expect(await fixture.getJson<NotebookDetail>(addressOf(made))).toMatchObject({
      ...{ revision: 2, title: ['a', 'b'][won] },
    });
  });

  it('count the first in the log of two processes that write one revision', { tags: 'release' }, async () => {
    const made = await make('processes');
    const saved = (title: string) =>
      controlEvent({ logId: fixture.log.logId, runId: '' }, 'NotebookSaved', {
        ...{ notebookId: made.notebookId, revision: 2, title, cells: [], source: '' },
      });
    await appendEvents(fixture.log, [saved('first'), saved('second')]);
    await fixture.storeHasCaughtUp();
    expect((await fixture.getJson<NotebookDetail>(addressOf(made))).title).toBe('first');
    // What the second process hears of its own.
    expect((await save(made, 1, { title: 'second' })).status).toBe(409);
    expect((await save(made, 1, { title: 'first' })).status).toBe(200);
    expect((await save(made, 2, { title: 'third' })).status).toBe(200);
  });

  it(
    'answer a request that comes again, and refuse its id for another content',
    { tags: 'release' },
    async () => {
      const id = '01a22902-0000-7000-8000-000000000001';
      const request = { id, title: 'once', cells: [QUERY] };
      expect((await fixture.post('/api/notebooks', request)).status).toBe(201);
      expect((await fixture.post('/api/notebooks', request)).status).toBe(200);
      expect((await fixture.post('/api/notebooks', { ...request, title: 'other' })).status).toBe(409);
    },
  );

  it('are gone once they are deleted, for lists and saves too, and stay in the past', async () => {
    const made = await make('short-lived');
    const { savedAt } = await fixture.getJson<NotebookDetail>(addressOf(made));
    expect((await fixture.delete(`${addressOf(made)}?revision=7`)).status).toBe(409);
    const deleted = await fixture.delete(addressOf(made));
    expect([deleted.status, await deleted.json()]).toEqual([200, { ...made, revision: 2 }]);
    for (const status of [
      (await fixture.get(addressOf(made))).status,
      (await save(made, 2, {})).status,
      (await fixture.delete(addressOf(made))).status,
    ])
      expect(status).toBe(404);
    expect((await fixture.get(`${addressOf(made)}?asOf=${encodeURIComponent(savedAt)}`)).status).toBe(200);
  });

  it('are listed by their last change, page by page, and shown in SQL', { tags: 'release' }, async () => {
    const titles = ['older', 'newer'];
    const made: SavedNotebook[] = [];
    for (const title of titles) made.push(await make(title));
    await save(made[0], 1, { title: 'older, changed' });
    const first = await fixture.getJson<Page<NotebookListItem>>('/api/notebooks?limit=1');
    expect(first.items).toMatchObject([{ title: 'older, changed', revision: 2, numCells: 0 }]);
    const next = `/api/notebooks?limit=1&cursor=${first.nextCursor}`;
    expect((await fixture.getJson<Page<NotebookListItem>>(next)).items).toMatchObject([{ title: 'newer' }]);
    const ids = made.map(({ notebookId }) => `'${notebookId}'`).join(', ');
    const query = `SELECT title, revision FROM notebooks WHERE notebook_id IN (${ids}) ORDER BY title`;
    const { rows } = (await (await fixture.post('/api/sql', { query })).json()) as SqlResult;
    expect(rows).toEqual([
      ['newer', 1],
      ['older, changed', 2],
    ]);
  });

  it('hold their most characters, each sent escaped as the clients in Python do', async () => {
    const cells = Array.from({ length: 4 }, () => ({ ...TEXT, text: 'ü'.repeat(65_400) }));
    const response = await fetch(`${fixture.api.url}/api/notebooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'long', cells }).replaceAll('ü', String.raw`\u00fc`),
    });
    expect(response.status).toBe(201);
  });

  it.each([
    [{ title: '', cells: [] }, 'title', /non-empty/],
    [{ title: 'a', cells: [{ kind: 'python', text: '' }] }, 'cells[0].kind', /one of sql, markdown/],
    [{ title: 'a', cells: [{ kind: 'sql' }] }, 'cells[0].text', /given/],
    [{ title: 'a', cells: Array.from({ length: 101 }, () => TEXT) }, 'cells', /at most 100/],
    [
      { title: 'a', cells: Array.from({ length: 5 }, () => ({ ...TEXT, text: 'a'.repeat(60_000) })) },
      'cells',
      /at most 262144 characters/,
    ],
    [{ title: 'a', cells: [], colour: 'red' }, 'colour', /no such field/],
  ])('are refused with the field and the rule: %#', async (request, field, rule) => {
    const response = await fixture.post('/api/notebooks', request);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: [{ field, rule: expect.stringMatching(rule) as string }],
    });
  });
});
