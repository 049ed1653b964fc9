/**
 * Does what a new user does, in a tree in which nothing is built and on a data directory of its own: `npm start`, look at the page, ask for
 * SQL, Ctrl-C, start again, see the run resume and finish, `retrace verify`. Prints each step; exits with 1 and one sentence when one fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, startWithNpm } from '../test/support/cli.mjs';
import { copyTree } from './copied-tree.mjs';
import { root } from './run-tool.mjs';

/** So many that the run is not over before the store has shown of it what is looked at. */
const NUM_UPDATES = 120;
/** Of small rounds, since verify reads every episode. */
const RECIPE = [
  '--recipe',
  'bandit-ppo',
  '--updates',
  `${NUM_UPDATES}`,
  '--set',
  'collection.groupsPerRound=128',
];
/** How soon the address must be there on a machine that does nothing else: the first time, when all is built, and later. */
const QUIET_URL_MS = { first: 15_000, later: 10_000 };
/** Other work on the machine may take most of it. */
const PATIENCE = 10;
const RUN_WITHIN_MS = 240_000 * PATIENCE;
const STORE_UNAVAILABLE = 503;

const directory = makeDataDirectory();
const tree = makeDataDirectory();
const sessions = [];

try {
  copyTree(tree.path);
  linkAllPackages();
  await smoke();
  console.log('smoke: passed');
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const session of sessions) await session.killTree();
  directory.remove();
  tree.remove();
}

/** Links packages of others into the copy from here, as after `npm ci`. */
function linkAllPackages() {
  linkPackages('node_modules');
  // Packages of which a workspace has a version of its own.
  for (const parent of ['apps', 'libs', 'clients']) {
    for (const name of readdirSync(join(root, parent))) {
      const folder = join(parent, name, 'node_modules');
      if (existsSync(join(root, folder))) linkPackages(folder);
    }
  }
}

/** Links between workspaces stay inside the copy, since they are relative. */
function linkPackages(folder) {
  mkdirSync(join(tree.path, folder));
  for (const name of readdirSync(join(root, folder))) {
    const path = join(folder, name);
    if (lstatSync(join(root, path)).isSymbolicLink()) {
      symlinkSync(readlinkSync(join(root, path)), join(tree.path, path));
    } else if (name.startsWith('@')) linkPackages(path);
    else symlinkSync(join(root, path), join(tree.path, path));
  }
}

async function smoke() {
  const port = String(await findFreePort());
  const args = [...RECIPE, '--port', port];
  const first = startAsUser([...args, '--data-dir', directory.path]);
  const url = await openDashboard(first, QUIET_URL_MS.first);
  const runId = await first.waitFor(/started bandit-ppo, run (\S+)/, RUN_WITHIN_MS);
  await first.waitFor(/update 2\b/, RUN_WITHIN_MS);
  await browse(url, runId);
  await stopInOrder(first, 'SIGINT');
  step('Ctrl-C stopped everything in order');

  const second = startAsUser([...args, '--data-dir', directory.path]);
  await resume(second, runId);
  await stopInOrder(second, 'SIGTERM');
  console.log(retrace('verify'));
  step('retrace verify finds no fault');
}

/** Waits for the address and looks at what is there. @returns {Promise<string>} the address that was printed */
async function openDashboard(session, quietMs) {
  const url = await session.waitFor(/dashboard at (http:\S+)\/live, API at/, quietMs * PATIENCE);
  step(`npm start printed ${url} after ${session.elapsed()} (on a quiet machine: ${quietMs / 1000} s)`);
  const page = await fetch(`${url}/live`);
  expect(
    page.ok && /<div id="root">|<script/.test(await page.text()),
    `GET ${url}/live is not the dashboard`,
  );
  expect((await getJson(`${url}/api/health`)) !== null, 'the API is not healthy');
  step('the dashboard and the health check answer');
  return url;
}

/** Reads the run, its episodes and their steps through the API, and asks for SQL. */
async function browse(url, runId) {
  await listed(`${url}/api/runs`, (run) => run.runId === runId);
  // The newest ones are still being played.
  const episodes = `${url}/api/runs/${runId}/episodes?limit=100`;
  const { episodeId } = await listed(episodes, ({ numSteps }) => numSteps !== null);
  const episode = await getJson(`${url}/api/runs/${runId}/episodes/${episodeId}`);
  expect(episode.steps.length > 0, `episode ${episodeId} has no steps`);
  step('the API lists the run, its episodes and their steps');
  const counted = await postJson(`${url}/api/sql`, {
    query: 'SELECT count() AS n, sum(reward) AS r FROM steps',
  });
  expect(Number(counted.rows[0][0]) > 0, 'SQL over steps counts none');
  step(`SQL counts ${counted.rows[0][0]} steps`);
}

/** Waits for an item of a list that fits: the store follows a run, which does not wait for it, nor for its start. */
async function listed(address, fits) {
  for (const deadline = Date.now() + RUN_WITHIN_MS; ; await sleep(500)) {
    const response = await fetch(address);
    expect(response.ok || response.status === STORE_UNAVAILABLE, `GET ${address} answers ${response.status}`);
    const found = response.ok ? (await response.json()).items.find(fits) : undefined;
    if (found !== undefined) return found;
    expect(Date.now() < deadline, `GET ${address} lists nothing that fits`);
  }
}

/** Waits until the run is resumed and finished, and expects each update once. */
async function resume(session, runId) {
  await openDashboard(session, QUIET_URL_MS.later);
  const resumedId = await session.waitFor(/resuming bandit-ppo, run (\S+)/, RUN_WITHIN_MS);
  expect(resumedId === runId, `npm start began another run (${resumedId}) instead of resuming ${runId}`);
  step(`started again after ${session.elapsed()}: the run is resumed`);
  await session.waitFor(/run ended: finished/, RUN_WITHIN_MS);
  const query = 'SELECT max(update_number) AS last, count() AS n FROM updates';
  for (const deadline = Date.now() + RUN_WITHIN_MS; ; await sleep(500)) {
    const [{ last, n }] = JSON.parse(retrace('sql', query, '--json'));
    if (Number(last) === NUM_UPDATES && Number(n) === NUM_UPDATES) break;
    // The store follows the run.
    const isBehind = Number(n) < NUM_UPDATES && Date.now() < deadline;
    expect(isBehind, `updates: last ${last} of ${n}; must be ${NUM_UPDATES} of ${NUM_UPDATES}`);
  }
  step('the run finished, and every update is there once');
}

/** Stops a session, and expects no complaint. npm ends with the signal that it passed on, whatever the exit code of its child. */
async function stopInOrder(session, signal) {
  const end = await session.stop(signal);
  expect(end === 0 || end === signal, `after ${signal} npm start ended with ${end}`);
  const complaint = session.lines.find((line) => /did not stop in time|^retrace: /.test(line));
  expect(complaint === undefined, `after ${signal}: ${complaint}`);
  const hint = session.lines.find((line) => line.includes('"npm start"'));
  expect(hint !== undefined, `after ${signal} nothing says that npm start goes on`);
}

function startAsUser(args) {
  const session = startWithNpm(args, tree.path);
  sessions.push(session);
  return session;
}

/** Runs a command in the copy, and returns what it prints. */
function retrace(...args) {
  const program = join(tree.path, 'apps', 'cli', 'bin', 'retrace.mjs');
  return execFileSync(process.execPath, [program, ...args, '--data-dir', directory.path], {
    encoding: 'utf8',
  }).trim();
}

async function getJson(url) {
  const response = await fetch(url);
  expect(response.ok, `GET ${url} answers ${response.status}`);
  return response.json();
}

async function postJson(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.ok, `POST ${url} answers ${response.status}`);
  return response.json();
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

function step(message) {
  console.log(`ok  ${message}`);
}
