/**
 * Installs the packages that `npm run pack` writes as a user does, in an empty folder, and uses them: no warning of npm, `npx retrace up` with
 * a fresh cache downloads the store's engine, shows its page, trains and stops in order; `npx retrace verify` finds no fault; an agent's program records
 * with `@retrace/client`. Where npm can't reach its registry, it says why and checks nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Session } from '../test/support/cli.mjs';
import { findObstacle, installInto, packInto, shareTensorflow } from './installed-package.mjs';

const NUM_UPDATES = 2;
/** Only what hangs shall end by it: on a quiet machine each step takes seconds. */
const WITHIN_MS = 900_000;

const home = mkdtempSync(join(tmpdir(), 'retrace-package-'));
const folder = join(home, 'project');
const cache = join(home, 'cache');
const environment = { XDG_CACHE_HOME: cache };
let session = null;

try {
  const unavailable = findObstacle();
  if (unavailable !== null) console.log(`package: skipped, because ${unavailable}`);
  else {
    install();
    await use();
    console.log('package: passed');
  }
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
} finally {
  await session?.killTree();
  rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}

function install() {
  const packages = packInto(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  installInto(folder, packages);
  step(`npm install ${packages.join(' ')}: no warning`);
  const { stdout } = npm(['exec', '--', 'retrace', '--version']);
  expect(/^\d+\.\d+\.\d+$/.test(stdout.trim()), `npx retrace --version says ${stdout}`);
}

async function use() {
  const up = ['up', '--recipe', 'bandit-ppo', '--updates', `${NUM_UPDATES}`, '--port', '0'];
  const backend = shareTensorflow(cache) ? 'tensorflow' : 'wasm';
  // TensorFlow's gradients come from two processes, of which one is a program of its own.
  const parallel = backend === 'tensorflow' ? ['--set', 'optimizer.dataParallel=2'] : [];
  const command = ['retrace', ...up, '--backend', backend, ...parallel];
  session = new Session('npx', command, environment, folder);
  await session.waitFor(/downloading ClickHouse's engine/, WITHIN_MS);
  step(`npx retrace up downloads the engine after ${session.elapsed()}`);
  const url = await session.waitFor(/dashboard at (http:\S+)\/live, API at/, WITHIN_MS);
  step(`it printed ${url} after ${session.elapsed()}`);
  const page = await (await fetch(`${url}/live`)).text();
  expect(page.includes('<div id="root">'), `GET ${url}/live is not the dashboard: ${page.slice(0, 200)}`);
  const reference = await (await fetch(`${url}/api`)).text();
  const [script] = /\/assets\/reference[^"]+\.js/.exec(reference) ?? [];
  const { ok } = await fetch(`${url}${script}`);
  expect(ok, `GET ${url}/api is not the reference of the API: ${reference.slice(0, 200)}`);
  const documentation = await (await fetch(`${url}/docs/api/sql`)).text();
  expect(
    documentation.includes('POST /api/sql'),
    `GET ${url}/docs/api/sql is not the documentation of a route`,
  );
  await session.waitFor(/the run has finished/, WITHIN_MS);
  const used = session.lines.find((line) => line.includes(` trainer+collector ${backend}`));
  expect(used !== undefined, `the trainer does not say that it computes with ${backend}`);
  step(`the run finished after ${session.elapsed()}`);
  record(url);
  await session.stop('SIGINT');
  const { status, stdout, stderr } = npm(['exec', '--', 'retrace', 'verify'], { env: environment });
  expect(status === 0, `npx retrace verify ended with exit code ${status}: ${stdout}${stderr}`);
  step('npx retrace verify finds no fault');
}

/** Records an episode as an agent's program does. */
function record(url) {
  const program = `import { Retrace } from '@retrace/client';
    const retrace = new Retrace({ url: ${JSON.stringify(url)} });
    const run = await retrace.startRun({ name: 'agent' });
    const episode = run.episode({ task: { ticket: 17 } });
    episode.step({ observation: 'Where is my order?', action: 'It arrives tomorrow.' });
    episode.end({ success: true });
    console.log(await retrace.close());`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status === 0 && stdout.trim() === 'true', `@retrace/client can't record: ${stdout}${stderr}`);
  step('@retrace/client records an episode');
}

function npm(args, { env = {} } = {}) {
  return spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: WITHIN_MS,
  });
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

function step(message) {
  console.log(`ok  ${message}`);
}
