import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApiConfig } from '../config/api-config.js';
import type { SqlResult } from '../sql/sql.dto.js';
import { startApiServer } from '../server.js';
import { ApiFixture } from '../testing/api-fixture.js';

const SECRET = 'sk-4711abcdef4711abcdef';
/** Stands beside the secret in every text, and must be found where the secret is looked for. */
const CONTROL = 'control0815';
const TEXT = `${CONTROL} ${SECRET} ${CONTROL}`;
const RULES = {
  rules: [
    { name: 'secret-key', pattern: 'sk-[a-z0-9]{20}' },
    { name: 'person', fields: ['metadata.person'] },
  ],
};

let directory: string;
let fixture: ApiFixture;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-redaction-'));
  const file = join(directory, 'rules.json');
  await writeFile(file, JSON.stringify(RULES));
  fixture = await ApiFixture.start({ RETRACE_REDACTION_RULES: file });
});

afterAll(async () => {
  await fixture?.close();
  await rm(directory, { recursive: true });
});

async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const response = await fixture.post(path, body);
  const answer = (await response.json()) as Answer;
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

/** Every record type, with the text in each field that takes one. */
const RECORDS = [
  {
    ...{ type: 'episode', episode: TEXT, groupId: TEXT, environment: TEXT, agent: TEXT, tags: [TEXT] },
    ...{ task: { [TEXT]: TEXT }, metadata: { person: `${SECRET} by name`, list: [TEXT] } },
  },
  {
    ...{
      type: 'step',
      episode: TEXT,
      step: 0,
      observation: TEXT,
      action: TEXT,
      parsedAction: TEXT,
      anchor: TEXT,
    },
    ...{ info: { [TEXT]: [TEXT] }, rewards: { [TEXT]: 1 }, engine: TEXT, model: TEXT, untrainable: TEXT },
    messages: { input: [{ role: 'user', content: TEXT }], output: { role: 'assistant', content: TEXT } },
    tokens: { ids: [1, 2], mask: [0, 1], logprobs: [null, -1] },
  },
  { type: 'end', episode: TEXT, detail: TEXT, finalObservation: TEXT },
  { type: 'reward', id: TEXT, episode: TEXT, name: TEXT, value: 1, source: TEXT, rationale: TEXT },
  {
    type: 'annotation',
    id: TEXT,
    episode: TEXT,
    tags: [TEXT],
    metadata: { person: TEXT, b: TEXT },
    source: TEXT,
  },
];

describe('an API with redaction rules', () => {
  it('stores no secret in the log or the store, takes the records again as duplicates, and counts', async () => {
    const { runId } = await post<{ runId: string }>('/api/runs', {
      ...{ name: TEXT, environment: TEXT, tags: [TEXT], metadata: { person: TEXT, [TEXT]: TEXT } },
    });
    const records = `/api/runs/${runId}/records`;
    expect(await post(records, RECORDS)).toEqual({ accepted: 5, duplicates: 0 });
    await fixture.patch(`/api/runs/${runId}`, { tags: [TEXT], notes: TEXT, source: TEXT });
    await post(`/api/runs/${runId}/end`, { reason: 'finished', detail: TEXT });
    const cells = [{ kind: 'sql', text: TEXT, view: 'chart', plot: { x: TEXT, ys: [TEXT], by: TEXT } }];
    await post('/api/notebooks', { title: TEXT, cells, source: TEXT });
    await fixture.storeHasCaughtUp();

    const files = await filesOf(fixture.directory);
    expect(files.filter(({ content }) => content.includes(SECRET)).map(({ path }) => path)).toEqual([]);
    const withControl = files.filter(({ content }) => content.includes(CONTROL)).map(({ path }) => path);
    expect(withControl.some((path) => path.includes('/log/'))).toBe(true);
    // The store's files are compressed, so its rows are asked, too.
    for (const table of ['runs', 'episodes', 'steps', 'reward_assignments', 'notebooks']) {
      const { rows } = await post<SqlResult>('/api/sql', { query: `SELECT * FROM ${table}` });
      expect(JSON.stringify(rows), table).toContain(CONTROL);
      expect(JSON.stringify(rows), table).toContain('[redacted:secret-key]');
      expect(JSON.stringify(rows), table).not.toContain(SECRET);
      expect(JSON.stringify(rows), table).not.toContain('by name');
    }
    const { rows } = await post<SqlResult>('/api/sql', { query: 'SELECT token_ids, untrainable FROM steps' });
    expect(rows).toEqual([[[], 'no token ids; control0815 [redacted:secret-key] control0815']]);
    expect(await post(records, RECORDS)).toEqual({ accepted: 5, duplicates: 5 });
    const measured = await (await fixture.get('/metrics')).text();
    expect(
      Number(/^retrace_redactions_total\{rule="secret-key"\} (\d+)$/m.exec(measured)?.[1]),
    ).toBeGreaterThan(30);
    expect(measured).toMatch(/^retrace_redactions_total\{rule="person"\} [1-9]/m);
  });

  it('does not start with rules that are wrong, and names file, rule and reason', async () => {
    const file = join(directory, 'wrong.json');
    await writeFile(file, '{"rules": [{"name": "a", "pattern": "(?<=x)y"}]}');
    const starting = startApiServer(readApiConfig({ ...fixture.environment, RETRACE_REDACTION_RULES: file }));
    await expect(starting).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(
        /^Redaction rules .*wrong\.json: rule "a": error parsing regexp/,
      ) as string,
    });
  });
});

async function filesOf(root: string): Promise<{ readonly path: string; readonly content: string }[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(paths.map(async (path) => ({ path, content: await readFile(path, 'latin1') })));
}
