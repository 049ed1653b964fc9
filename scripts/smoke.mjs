/**
 * What a new user does, on a data directory of its own: `npm start`, look at the page, ask for SQL, Ctrl-C, start again, see the
 * run go on and end, `retrace verify`. Prints each step; exit code 1 with one sentence when one fails.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './run-tool.mjs';

const numUpdates = 8;
const urlWithinMs = 60_000;
const runWithinMs = 240_000;

const directory = mkdtempSync(join(tmpdir(), 'retrace-smoke-'));
const started = [];

try {
  await smoke();
  console.log('smoke: passed');
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const session of started) session.kill();
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
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
    directory,
  ].map(String);

  const first = startAsUser(args);
  const url = await first.waitFor(/dashboard and API at (http:\S+)/, urlWithinMs);
  step(`npm start printed ${url} after ${first.elapsed()}`);
  const page = await fetch(url);
  expect(page.ok && /<div id="root">|<script/.test(await page.text()), `GET ${url} is not the dashboard`);
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

  expect((await first.stop('SIGINT')) === 0, 'Ctrl-C did not end npm start with exit code 0');
  step('Ctrl-C stopped everything in order');

  const second = startAsUser(args);
  const resumedId = await second.waitFor(/going on with bandit-ppo, run (\S+)/, runWithinMs);
  expect(resumedId === runId, `npm start began another run (${resumedId}) instead of going on with ${runId}`);
  step(`started again after ${second.elapsed()}: the run goes on`);
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
  expect((await second.stop('SIGTERM')) === 0, 'SIGTERM did not end npm start with exit code 0');
  console.log(await retrace('verify'));
  step('retrace verify finds no fault');
}

/** `npm start` in a process group of its own, as a shell would. */
function startAsUser(args) {
  const startedAt = performance.now();
  const child = spawn('npm', ['start', '--silent', '--', ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = [];
  const waiting = new Set();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const check of waiting) check();
    });
  }
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  const session = {
    elapsed: () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    waitFor: async (pattern, withinMs) => {
      const found = new Promise((resolve) => {
        const check = () => {
          const match = lines.map((line) => pattern.exec(line)).find((result) => result !== null);
          if (match) resolve(match[1] ?? match[0]);
        };
        waiting.add(check);
        check();
      });
      const late = sleep(withinMs, null, { ref: false });
      const value = await Promise.race([found, late, ended.then(() => null)]);
      if (value === null) {
        throw new Error(
          `no line ${pattern} within ${withinMs / 1000} s; the last lines were:\n${lines.slice(-30).join('\n')}`,
        );
      }
      return value;
    },
    stop: (signal) => {
      process.kill(-child.pid, signal);
      return ended;
    },
    kill: () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    },
  };
  started.push(session);
  return session;
}

async function retrace(...args) {
  const child = spawn(
    process.execPath,
    [join(root, 'apps/cli/bin/retrace.mjs'), ...args, '--data-dir', directory],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const output = Buffer.concat(chunks).toString().trim();
  expect(code === 0, `retrace ${args[0]} ended with exit code ${code}: ${output}`);
  return output;
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

function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

function step(message) {
  console.log(`ok  ${message}`);
}
