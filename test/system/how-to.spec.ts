import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, startRetrace } from '../support/cli.mjs';
import { clientEnvironment, pythonVariables } from '../support/python-client.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';
import { placeOf, readBlocks, type Block } from '../docs/blocks.mjs';

const run = promisify(execFile);
const PRINTED_URL = 'http://127.0.0.1:8787';
/** The pages that ask the newest run for its updates come before those that begin runs. */
const PAGES = [
  'ask-in-sql',
  'replay-an-update',
  'train-elsewhere',
  'evaluate-a-policy',
  'train',
  'record-episodes',
];

const blocks = readBlocks().filter(({ page }) => page.startsWith('docs/how-to/'));
const python = await clientEnvironment();

describe('pages of tasks', () => {
  const data = makeDataDirectory();
  const folder = mkdtempSync(join(tmpdir(), 'retrace-how-to-'));
  /** Packages of the workspace are found from here. */
  const modules = join(root, 'node_modules', '.retrace-how-to');
  let server: ReturnType<typeof startRetrace>;
  let url = '';

  beforeAll(async () => {
    await placeTrainedDirectory(data.path, 1);
    mkdirSync(modules, { recursive: true });
    server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
    url = await server.untilServing(110_000);
  });

  afterAll(async () => {
    await server.killTree();
    data.remove();
    for (const path of [folder, modules]) rmSync(path, { recursive: true, force: true });
  });

  it('are all tried here', () => {
    const pages = new Set(blocks.map(({ page }) => page));
    expect([...pages].toSorted()).toEqual(PAGES.map((name) => `docs/how-to/${name}.md`).toSorted());
  });

  const inOrder = PAGES.flatMap((name) => blocks.filter(({ page }) => page === `docs/how-to/${name}.md`));
  it.each(inOrder.map((block) => ({ ...block, place: placeOf(block) })))(
    '$place runs as it is printed, $language',
    async (block) => {
      if (block.language === 'python' && 'unavailable' in python) return;
      await expect(runBlock(block)).resolves.not.toThrow();
    },
  );

  function runBlock({ language, text, line }: Block): Promise<unknown> {
    const program = text.replaceAll(PRINTED_URL, url);
    switch (language) {
      case 'sh': {
        const npx = `npx() { shift; node ${join(root, 'apps/cli/bin/retrace.mjs')} "$@"; }`;
        const environment = { ...process.env, RETRACE_DATA_DIR: data.path };
        const script = `set -euo pipefail\n${npx}\n${program.replaceAll('curl -s', 'curl -sS --fail-with-body')}`;
        return run('bash', ['-c', script], { cwd: folder, env: environment });
      }
      case 'ts': {
        const path = join(modules, `block-${line}.mjs`);
        const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
        writeFileSync(path, ts.transpileModule(program, { compilerOptions }).outputText);
        return run(process.execPath, [path]);
      }
      case 'python':
        if ('unavailable' in python) throw new Error(python.unavailable);
        return run(python.python, ['-c', program], { cwd: folder, env: pythonVariables({}) });
      default:
        throw new Error(`no program runs blocks in "${language}"`);
    }
  }
});
