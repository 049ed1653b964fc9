import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, Session, startRetrace } from '../support/cli.mjs';
import { clientEnvironment, pythonVariables } from '../support/python-client.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';
import { placeOf, readBlocks, type Block } from '../docs/blocks.mjs';

const PRINTED_URL = 'http://127.0.0.1:8787';
const BLOCK_MS = 120_000;
const SPLITS = /\btrain\b[\s\S]*\b512\b/;
const COSINE = /^(finished )?-?[01](\.\d+)?$/m;
const RATES = [/random\D+0\.\d/, /expert\D+1/];
const TRAINED = [/\bfinished\b/, /^\[ ?(-?\d+\.\d+, ?){2}-?\d+\.\d+ ?\]$/m];

/** For each page what its blocks print, in order. The pages that ask the newest run for its updates come before those that begin runs. */
const PAGES: Readonly<Record<string, readonly (readonly RegExp[])[]>> = {
  'ask-in-sql': [[SPLITS], [SPLITS], [SPLITS], [/\b512\b/], [/\b512\b/], [/\b512\b/]],
  'replay-an-update': [
    [/^true\ntrue$/m],
    [/^finished/, /isReproduced: true/],
    [/^finished True$/],
    [COSINE],
    [COSINE],
  ],
  'train-elsewhere': [[/^$/], [/^4 Vector/], [/^\[ ?\d+ /], [/update_number=1, policy_version=1/]],
  'evaluate-a-policy': [
    [/^random .* 0\.\d{3} /m, /^expert .* 1\.000 /m],
    RATES,
    [/'random', 'expert'/, /isComplete: true/],
    RATES,
  ],
  train: [TRAINED, TRAINED, TRAINED, [/update 3 of 3/]],
  'record-episodes': [[/"accepted":4/], [/^true$/], [/^$/]],
};

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
    const numBlocks = (page: string) =>
      blocks.filter((block) => block.page === `docs/how-to/${page}.md`).length;
    const pages = new Set(blocks.map(({ page }) => page));
    expect([...pages].toSorted()).toEqual(
      Object.keys(PAGES)
        .map((name) => `docs/how-to/${name}.md`)
        .toSorted(),
    );
    for (const [page, printed] of Object.entries(PAGES)) expect(printed, page).toHaveLength(numBlocks(page));
  });

  const inOrder = Object.entries(PAGES).flatMap(([page, printed]) =>
    blocks
      .filter((block) => block.page === `docs/how-to/${page}.md`)
      .map((block, at) => ({ ...block, place: placeOf(block), printed: printed[at] })),
  );
  for (const block of inOrder) {
    const title = `${block.place} runs as it is printed, ${block.language}`;
    const reason = block.language === 'python' && 'unavailable' in python ? python.unavailable : null;
    it.skipIf(reason !== null)(
      reason === null ? title : `${title} (skipped, because ${reason})`,
      async () => {
        const printed = await runBlock(block);
        for (const pattern of block.printed) expect(printed).toMatch(pattern);
      },
      2 * BLOCK_MS,
    );
  }

  /** Returns what it printed. @throws Error where it fails, or does not end; no process of it is left */
  async function runBlock(block: Block): Promise<string> {
    const session = startBlock(block);
    try {
      const end = await Promise.race([session.ended, sleep(BLOCK_MS, 'no end', { ref: false })]);
      const printed = session.lines.join('\n');
      if (end !== 0) throw new Error(`${placeOf(block)} came to ${end} and printed:\n${printed}`);
      return printed;
    } finally {
      await session.killTree();
    }
  }

  function startBlock({ language, text, line }: Block): Session {
    const program = text.replaceAll(PRINTED_URL, url);
    switch (language) {
      case 'sh': {
        const npx = `npx() { shift; node ${join(root, 'apps/cli/bin/retrace.mjs')} "$@"; }`;
        const script = `set -euo pipefail\n${npx}\n${program.replaceAll('curl -s', 'curl -sS --fail-with-body')}`;
        return new Session('bash', ['-c', script], { RETRACE_DATA_DIR: data.path }, folder);
      }
      case 'ts': {
        const path = join(modules, `block-${line}.mjs`);
        const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
        writeFileSync(path, ts.transpileModule(program, { compilerOptions }).outputText);
        return new Session(process.execPath, [path], {}, folder);
      }
      case 'python':
        if ('unavailable' in python) throw new Error(python.unavailable);
        return new Session(
          python.python,
          ['-c', program],
          pythonVariables({}) as Record<string, string>,
          folder,
        );
      default:
        throw new Error(`no program runs blocks in "${language}"`);
    }
  }
});
