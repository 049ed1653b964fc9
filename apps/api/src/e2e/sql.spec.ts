import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlPlan } from '../sql/sql-plan.dto.js';
import type { SqlResult, SqlSchema } from '../sql/sql.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';
import type { RecordedEpisode } from '../testing/played-episode.js';
import { RunRecorder } from '../testing/run-recorder.js';

let fixture: ApiFixture;
let episodes: readonly RecordedEpisode[];

beforeAll(async () => {
  fixture = await ApiFixture.start();
  const run = new RunRecorder(fixture.log, { groupsPerRound: 8 });
  await run.start();
  episodes = await run.round();
  await fixture.storeHasCaughtUp();
});

afterAll(async () => {
  await fixture?.close();
});

async function rowsOf(query: string, maxRows?: number): Promise<SqlResult> {
  const response = await fixture.post('/api/sql', { query, maxRows });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body as SqlResult;
}

describe('queries', () => {
  it('answers over the views, with columns, types and rows', async () => {
    const result = await rowsOf('SELECT count() AS n, sum(num_steps) AS steps FROM episodes WHERE sealed');
    const numSteps = episodes.reduce((sum, { end }) => sum + end.numSteps, 0);
    expect(result).toMatchObject({
      columns: [
        { name: 'n', type: 'UInt64' },
        { name: 'steps', type: expect.stringMatching(/UInt64/) as string },
      ],
      rows: [[episodes.length, numSteps]],
      numRows: 1,
      truncated: false,
    });
  });

  it('cuts the result at maxRows and sets truncated', async () => {
    expect(await rowsOf('SELECT step FROM steps', 3)).toMatchObject({ numRows: 3, truncated: true });
    const all = await rowsOf('SELECT episode_id FROM episodes', episodes.length);
    expect(all).toMatchObject({ numRows: episodes.length, truncated: false });
  });

  it('keeps the order of columns, and integers that a number would round', async () => {
    const { columns, rows } = await rowsOf(
      "SELECT 2 AS b, toUInt64('18446744073709551615') AS a, nan AS `1`",
    );
    expect(columns.map(({ name }) => name)).toEqual(['b', 'a', '1']);
    expect(rows).toEqual([[2, '18446744073709551615', 'nan']]);
  });

  it('accepts comments and a closing semicolon', async () => {
    expect((await rowsOf('SELECT 1 AS one; -- done')).rows).toEqual([[1]]);
  });

  it('tells what a query will read without running it, and refuses what may not run', async () => {
    const query = "SELECT throwIf(count() > 0) FROM steps WHERE run_id = 'none'";
    const answer = await fixture.post('/api/sql/explain', { query });
    const plan = (await answer.json()) as SqlPlan;
    expect([answer.status, plan.names]).toEqual([200, ['steps']]);
    expect(plan.tables.map(({ table }) => table)).toEqual(['events']);
    expect(plan.steps[0]).toMatchObject({ depth: 0, name: 'Aggregating' });
    expect(plan.steps.at(-1)).toMatchObject({ name: 'ReadFromMergeTree', detail: 'events' });
    const refused = await fixture.post('/api/sql/explain', { query: "SELECT file('/etc/passwd')" });
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: 'SQL_REFUSED' }]);
  });

  it('lists the tables and columns that may be read', async () => {
    const { tables } = await fixture.getJson<SqlSchema>('/api/sql/schema');
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['runs', 'episodes', 'steps', 'updates', 'metrics', 'warnings']),
    );
    const steps = tables.find(({ name }) => name === 'steps');
    expect(steps?.columns).toContainEqual({ name: 'token_ids', type: 'Array(Int32)' });
  });
});

describe('the guard', () => {
  it.each([
    ['a second statement', 'SELECT 1; DROP TABLE events', /Only one statement is allowed/],
    ['a write', "INSERT INTO events (kind) VALUES ('x')", /Only SELECT is allowed, not INSERT/],
    ['DDL', 'DROP VIEW steps', /Only SELECT is allowed, not DROP/],
    ['a file read as a function', "SELECT file('/etc/passwd')", /function "file" is not allowed/],
    ['a file read as a table', "SELECT * FROM file('/etc/passwd', 'LineAsString')", /file/],
    ['a table that is not public', 'SELECT * FROM system.settings', /system\.settings/],
    ['settings', 'SELECT count() FROM steps SETTINGS max_threads = 8', /SETTINGS/],
    ['an output file', "SELECT 1 INTO OUTFILE '/tmp/x'", /OUTFILE/],
    ['an output format', 'SELECT 1 FORMAT CSV', /FORMAT/],
  ])('refuses %s with the reason', async (_, query, reason) => {
    const response = await fixture.post('/api/sql', { query });
    expect(response.status).toBe(422);
    const problem = (await response.json()) as { code: string; detail: string };
    expect(problem.code).toBe('SQL_REFUSED');
    expect(problem.detail).toMatch(reason);
  });

  it('refused queries change nothing', async () => {
    expect((await rowsOf('SELECT count() FROM episodes')).rows).toEqual([[episodes.length]]);
  });
});

describe('failures', () => {
  it('returns the reason of the engine', async () => {
    const response = await fixture.post('/api/sql', { query: 'SELECT colour FROM steps' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: 'SQL_FAILED',
      detail: expect.stringContaining('colour') as string,
    });
  });

  it.each([
    ['selec 1', 'Syntax error near "selec"; did you mean "SELECT"?'],
    ['SELECT * FROM epsodes', 'Unknown table "epsodes"; did you mean "episodes"?'],
  ])('names the mistyped word of %j', async (query, detail) => {
    const response = await fixture.post('/api/sql', { query });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail });
  });

  it('returns the reason of a syntax error', async () => {
    const response = await fixture.post('/api/sql', { query: "SELECT 'open" });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'SQL_FAILED' });
  });

  it('ends a query that would need too much memory', async () => {
    // A megabyte for each pair of steps, so that the limit of memory is reached before that of time on a busy machine, too.
    const query = `SELECT length(groupArray(repeat('x', 1000000))) FROM steps AS a, steps AS b`;
    const response = await fixture.post('/api/sql', { query });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: 'SQL_LIMIT_EXCEEDED',
      detail: expect.stringMatching(
        /memory limit exceeded.*this limit can not be raised by a query: read less/i,
      ) as string,
    });
  });
});

describe('queries that are answered in Arrow', () => {
  async function arrowOf(query: string, maxRows?: number): Promise<Response> {
    const headers = { 'content-type': 'application/json', accept: 'application/vnd.apache.arrow.stream' };
    return fetch(`${fixture.api.url}/api/sql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, maxRows }),
    });
  }

  it('hold the rows that JSON holds, in columns of their types', async () => {
    const query = 'SELECT episode_id, toUInt32(num_steps), success FROM episodes ORDER BY episode_id';
    const response = await arrowOf(query);
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    const table = tableFromIPC(await response.arrayBuffer());
    const { rows } = await rowsOf(query);
    expect(table.toArray().map((row) => [...row].map(([, value]) => value as unknown))).toEqual(rows);
  });

  it('have as many rows as maxRows allows, also beyond what JSON may have', async () => {
    const query = 'SELECT a.step FROM steps AS a, steps AS b, steps AS c';
    expect(tableFromIPC(await (await arrowOf(query, 3)).arrayBuffer()).numRows).toBe(3);
    expect(tableFromIPC(await (await arrowOf(query, 12_000)).arrayBuffer()).numRows).toBe(12_000);
    const asJson = await fixture.post('/api/sql', { query, maxRows: 12_000 });
    expect(asJson.status).toBe(422);
    expect(await asJson.json()).toMatchObject({ code: 'SQL_LIMIT_EXCEEDED', errors: [{ field: 'maxRows' }] });
  });

  it('are refused as JSON queries are, with a problem', async () => {
    const response = await arrowOf('SELECT * FROM system.users');
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ code: 'SQL_REFUSED' });
  });
});
