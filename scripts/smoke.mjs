/**
 * What a new user does, on a data directory of its own: `npm start`, look at the page, ask for SQL, Ctrl-C, start again, see the
 * run go on and end, `retrace verify`. Prints each step; exit code 1 with one sentence when one fails.
 *
 * The address must be printed within 10 s of `npm start` in a tree that is built: this builds it first.
 */
import { buildIfStale } from './build-if-stale.mjs';
import { findFreePort } from './free-port.mjs';
import { makeDataDirectory, runRetrace, startWithNpm } from '../test/support/cli.mjs';

const numUpdates = 8;
const urlWithinMs = 10_000;
/** How long to wait for it all the same, to say how late it came. */
const urlAtLatestMs = 60_000;
const runWithinMs = 240_000;

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
  const port = await findFreePort();
  const args = [
    '--recipe',
    'bandit-ppo',
    '--updates',
    numUpdates,
    '--port',
    port,
    '--data-dir',
    directory.path,
  ].map(String);

  const first = startAsUser(args);
  const url = await first.waitFor(/dashboard at (http:\S+)\/live, API at/, urlAtLatestMs);
  const urlAfter = first.elapsed();
  expect(
    first.elapsedMs() < urlWithinMs,
    `npm start printed its address after ${urlAfter}; must be within ${urlWithinMs / 1000} s`,
  );
  step(`npm start printed ${url} after ${urlAfter}`);
  const page = await fetch(`${url}/live`);
  expect(
    page.ok && /<div id="root">|<script/.test(await page.text()),
    `GET ${url}/live is not the dashboard`,
  );
  expect((await getJson(`${url}/api/health`)) !== null, 'the API is not healthy');
  step('the dashboard and the health check answer');

  const runId = await first.waitFor(/started bandit-ppo, run (\S+)/, runWithinMs);
  await first.waitFor(/update 2\b/, runWithinMs);
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

  await stopInOrder(first, 'SIGINT');
  step('Ctrl-C stopped everything in order');

  const second = startAsUser(args);
  const resumedId = await second.waitFor(/resuming bandit-ppo, run (\S+)/, runWithinMs);
  expect(resumedId === runId, `npm start began another run (${resumedId}) instead of resuming ${runId}`);
  step(`started again after ${second.elapsed()}: the run is resumed`);
  await second.waitFor(/run ended: finished/, runWithinMs);
  const whileServing = await retrace(
    'sql',
    'SELECT max(update_number) AS last, count() AS n FROM updates',
    '--json',
  );
  const [{ last, n }] = JSON.parse(whileServing);
  expect(
    Number(last) === numUpdates && Number(n) === numUpdates,
    `updates: last ${last} of ${n}, not ${numUpdates}`,
  );
  step('the run finished, every update is there once');
  await stopInOrder(second, 'SIGTERM');
  console.log(await retrace('verify'));
  step('retrace verify finds no fault');
}

/** npm ends with the signal that it passed on, whatever the exit code of what it ran. */
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
