import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../clients/python-package.js';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';

const found = await pythonWith('schemathesis==4.32.5');
const TITLE = 'the API under schemathesis 4.32.5, which makes requests out of its OpenAPI document';
const title = found.kind === 'available' ? TITLE : `${TITLE} (skipped, because ${found.reason})`;
const SETTINGS = join(import.meta.dirname, '../support/schemathesis.toml');
const HOOKS = join(import.meta.dirname, '../support/schemathesis_hooks.py');

describe.skipIf(found.kind === 'unavailable')(title, () => {
  const data = makeDataDirectory();
  let server: ReturnType<typeof startRetrace>;
  let url = '';
  let key = '';

  beforeAll(async () => {
    const made = await runRetrace([
      ...['keys', 'create', '--name', 'schemathesis', '--scopes', 'admin'],
      ...['--data-dir', data.path],
    ]);
    key = made.stdout;
    const recipe = ['--recipe', 'bandit-ppo', '--updates', '2', '--backend', 'wasm'];
    server = startRetrace(['up', ...recipe, '--port', '0', '--data-dir', data.path]);
    url = await server.untilServing(110_000);
    await server.waitFor(/the run has finished/, 110_000);
  });

  afterAll(async () => {
    await server?.killTree();
    data.remove();
  });

  async function read<Answer>(path: string): Promise<Answer> {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return (await response.json()) as Answer;
  }

  /** The settings with the ids of a run and an episode, so that routes below them have something to answer. */
  async function writeSettings(): Promise<string> {
    const { items: runs } = await read<{ items: { runId: string }[] }>('/api/runs');
    const { items } = await read<{ items: { episodeId: string }[] }>(
      `/api/runs/${runs[0].runId}/episodes?limit=1`,
    );
    const dictionaries = [
      `[dictionaries.runs]\nvalues = ["${runs[0].runId}"]`,
      `[dictionaries.episodes]\nvalues = ["${items[0].episodeId}"]`,
    ];
    const path = join(data.path, 'schemathesis.toml');
    writeFileSync(path, [readFileSync(SETTINGS, 'utf8'), ...dictionaries].join('\n\n'));
    return path;
  }

  it('answers no request with 5xx, every request as the document says, and none without a key', async () => {
    if (found.kind === 'unavailable') return;
    const args = [
      ...['-m', 'schemathesis.cli', '--config-file', await writeSettings()],
      ...['run', `${url}/api/openapi.json`, '--header', `Authorization: Bearer ${key}`],
      // A stream has no end.
      ...['--exclude-path', '/api/runs/{runId}/live'],
      ...['--checks', 'all', '--max-examples', '20', '--seed', '1'],
      // Ten times what a quiet machine takes for the dearest, a batch of all groups.
      ...['--max-response-time', '60', '--request-timeout', '120'],
    ];
    const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
      execFile(
        found.python,
        args,
        {
          cwd: data.path,
          maxBuffer: 64 * 1024 * 1024,
          env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS },
        },
        (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
        },
      );
    });
    expect(code, output.slice(-20_000)).toBe(0);
    expect(output).toMatch(/ (\d{4,}) generated, \1 passed/);
  }, 3_600_000);
});
