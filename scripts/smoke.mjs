/**
 * Does what a new user does, on a data directory of its own: `npm start`, look at the page, ask for SQL, Ctrl-C, start again, see the
 * run resume and finish, `retrace verify`. Prints each step; exits with 1 and one sentence when one fails.
 *
 * The address must be printed within 10 s of `npm start` in a tree that is built, so this builds it first.
 */
import { buildIfStale } from './build-if-stale.mjs';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, runRetrace, startWithNpm } from '../test/support/cli.mjs';

const NUM_UPDATES = 8;
const URL_WITHIN_MS = 10_000;
/** A late address is waited for all the same, so that the message can say how late it was. */
const URL_AT_LATEST_MS = 60_000;
const RUN_WITHIN_MS = 240_000;

const directory = makeDataDirectory();
const sessions = [];

try {
  await buildIfStale();
  await smoke();
  console.log('smoke: passed');
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const session of sessions) await session.killTree();
  directory.remove();
}

async function smoke() {
  const port = String(await findFreePort());
  const args = ['--recipe', 'bandit-ppo', '--updates', String(NUM_UPDATES), '--port', port];
  const first = startAsUser([...args, '--data-dir', directory.path]);
  const url = await openDashboard(first);
  const runId = await first.waitFor(/started bandit-ppo, run (\S+)/, RUN_WITHIN_MS);
  await first.waitFor(/update 2\b/, RUN_WITHIN_MS);
  await browse(url, runId);
  await stopInOrder(first, 'SIGINT');
  step('Ctrl-C stopped everything in order');

  const second = startAsUser([...args, '--data-dir', directory.path]);
  await resume(second, runId);
  await stopInOrder(second, 'SIGTERM');
  console.log(await retrace('verify'));
  step('retrace verify finds no fault');
}

/** @returns {Promise<string>} the address that was printed */
async function openDashboard(session) {
  const url = await session.waitFor(/dashboard at (http:\S+)\/live, API at/, URL_AT_LATEST_MS);
  const urlAfter = session.elapsed();
  expect(
    session.elapsedMs() < URL_WITHIN_MS,
    `npm start printed its address after ${urlAfter}; must be within ${URL_WITHIN_MS / 1000} s`,
  );
  step(`npm start printed ${url} after ${urlAfter}`);
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
  const { items } = await getJson(`${url}/api/runs`);
  expect(
    items.some((run) => run.runId === runId),
    `GET /api/runs does not list run ${runId}`,
  );
  const episodes = await getJson(`${url}/api/runs/${runId}/episodes?limit=5`);
  expect(episodes.items.length === 5, 'GET episodes lists fewer than 5 episodes');
  const { episodeId } = episodes.items[0];
  const episode = await getJson(`${url}/api/runs/${runId}/episodes/${episodeId}`);
  expect(episode.steps.length > 0, `episode ${episodeId} has no steps`);
  step('the API lists the run, its episodes and their steps');
  const counted = await postJson(`${url}/api/sql`, {
    query: 'SELECT count() AS n, sum(reward) AS r FROM steps',
  });
  expect(Number(counted.rows[0][0]) > 0, 'SQL over steps counts none');
  step(`SQL counts ${counted.rows[0][0]} steps`);
}

/** Waits until the run is resumed and finished, and expects each update once. */
async function resume(session, runId) {
  const resumedId = await session.waitFor(/resuming bandit-ppo, run (\S+)/, RUN_WITHIN_MS);
  expect(resumedId === runId, `npm start began another run (${resumedId}) instead of resuming ${runId}`);
  step(`started again after ${session.elapsed()}: the run is resumed`);
  await session.waitFor(/run ended: finished/, RUN_WITHIN_MS);
  const query = 'SELECT max(update_number) AS last, count() AS n FROM updates';
  const [{ last, n }] = JSON.parse(await retrace('sql', query, '--json'));
  expect(
    Number(last) === NUM_UPDATES && Number(n) === NUM_UPDATES,
    `updates: last ${last} of ${n}; must be ${NUM_UPDATES} of ${NUM_UPDATES}`,
  );
  step('the run finished, and every update is there once');
}

/** Stops a session, and expects no complaint. npm ends with the signal that it passed on, whatever the exit code of its child. */
async function stopInOrder(session, signal) {
  const end = await session.stop(signal);
  expect(end === 0 || end === signal, `after ${signal} npm start ended with ${end}`);
  const complaint = session.lines.find((line) => /did not stop in time|^retrace: /.test(line));
  expect(complaint === undefined, `after ${signal}: ${complaint}`);
}

function startAsUser(args) {
  const session = startWithNpm(args);
  sessions.push(session);
  return session;
}

async function retrace(...args) {
  const { code, stdout, stderr } = await runRetrace([...args, '--data-dir', directory.path]);
  expect(code === 0, `retrace ${args[0]} ended with exit code ${code}: ${stdout} ${stderr}`);
  return stdout;
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
