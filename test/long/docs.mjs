/**
 * Runs every shell block of the README and of `docs/` as it is printed, with bash: in a project in which the packages of `npm run pack` are installed,
 * or in a fresh copy of the repository where a page is about one. A command must end with exit code 0 and report no error; a server is stopped by
 * Ctrl-C once it says that it is up. `test/docs/page-needs.mjs` says what each page presumes, `test/docs/unrun-blocks.mjs` what is not run, and why.
 *
 *   npm run test:long -- docs [-- --pages tutorial,serve] [--home DIRECTORY]
 *
 * Takes half an hour on two free cores, and needs the ports that the pages name: 8787 to 8789, 8000, 8100, 36001. `--home` keeps what is installed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { findObstacle } from '../../scripts/installed-package.mjs';
import { placeOf, readBlocks } from '../docs/blocks.mjs';
import { PageRun } from '../docs/page-run.mjs';
import { Places } from '../docs/places.mjs';
import { startServices } from '../docs/services.mjs';
import { unrunReasonOf } from '../docs/unrun-blocks.mjs';

const { values } = parseArgs({ options: { pages: { type: 'string' }, home: { type: 'string' } } });
const wanted = values.pages?.split(',');
const startedAt = performance.now();
const counts = { blocks: 0, commands: 0, listed: 0 };
const faults = [];
/** The page that is run. @type {PageRun | null} */
let current = null;

const obstacle = findObstacle();
if (obstacle === null) await runPages();
else console.log(`docs: skipped, because ${obstacle}`);

async function runPages() {
  const home = values.home ? resolve(values.home) : mkdtempSync(join(tmpdir(), 'retrace-docs-'));
  mkdirSync(home, { recursive: true });
  await openBackend();
  const services = await startServices(home);
  const interrupt = async () => {
    await current?.close();
    await services.close();
    process.exit(130);
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const places = new Places(home, services);
    const shell = readBlocks().filter(({ language }) => language === 'sh' || language === 'bash');
    for (const page of new Set(shell.map((block) => block.page)))
      if (isWanted(page)) {
        await runPage(
          page,
          shell.filter((block) => block.page === page),
          places,
        );
      }
  } finally {
    await services.close();
    if (!values.home) rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
  report();
}

/** @param {string} page */
function isWanted(page) {
  return wanted === undefined || wanted.some((name) => page === `docs/${name}.md` || page === `${name}.md`);
}

async function runPage(page, blocks, places) {
  const run = new PageRun(page, places);
  current = run;
  try {
    for (const block of blocks) {
      const reason = unrunReasonOf(block);
      if (reason !== null) {
        counts.listed += 1;
        console.log(`--  ${placeOf(block)}: ${reason}`);
        continue;
      }
      counts.blocks += 1;
      for await (const { statement, seconds, fault } of run.block(block)) {
        counts.commands += 1;
        const [line] = statement.split('\n');
        console.log(`${fault ? 'NOT' : 'ok '} ${placeOf(block)} ${line} (${seconds.toFixed(1)} s)`);
        if (fault) fail(`${placeOf(block)} ${statement}\n${fault}`);
      }
    }
  } catch (error) {
    fail(`${page}: ${error.stack}`);
  } finally {
    for (const fault of await run.close()) fail(`${page}: ${fault}`);
  }
}

/** @param {string} fault */
function fail(fault) {
  console.log(fault);
  faults.push(fault);
}

function report() {
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${counts.blocks} blocks with ${counts.commands} commands; ${faults.length} faults`);
  for (const fault of faults) console.log(`\n${fault}`);
  if (counts.blocks + counts.listed === 0) console.log('no page has one of these names');
  process.exitCode = faults.length === 0 && counts.blocks + counts.listed > 0 ? 0 : 1;
  if (!process.env.RETRACE_RESULT_FILE || wanted !== undefined) return;
  const figures = [
    { name: 'blocks executed', value: counts.blocks },
    { name: 'commands executed', value: counts.commands },
    { name: 'faults', value: faults.length, aim: '0' },
    { name: 'blocks listed with the reason why not', value: counts.listed },
    { name: 'time', value: Math.round(seconds), unit: 's' },
  ];
  const title = 'Shell blocks of the pages, as they are printed';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
