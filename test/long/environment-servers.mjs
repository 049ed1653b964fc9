/**
 * Collects from environment servers that other people wrote, unmodified: AgentGym's textcraft and babyai over HTTP, a game on OpenEnv's server
 * over its WebSocket, and an environment of Gymnasium and one of verifiers that `retrace.serve_environment` hosts. Retrace starts two servers
 * of each, checks their health, replaces them after 40 episodes, and stops them. Then it collects again, and a server is killed with -9 in the
 * middle of it. Every episode is in the store, with every step; no process is left.
 *
 *   npm run test:long -- environment-servers [-- --agentgym path/to/a/repository/of/AgentGym] [--only textcraft]
 *
 * Some packages are installed once. Without the option AgentGym's servers come from GitHub. Takes ten minutes.
 */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FigureTable } from '../../bench/figure-table.mjs';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import {
  environmentServers,
  freePorts,
  processesIn,
  startedServers,
  writeServerFile,
} from '../support/environment-servers.mjs';

const NUM_EPISODES = 200;
const NUM_EPISODES_KILLED = 100;
const NUM_SERVERS = 2;
const MAX_EPISODES = 4;
const RECYCLE_AFTER = 40;

const { values } = parseArgs({ options: { agentgym: { type: 'string' }, only: { type: 'string' } } });
const table = new FigureTable('Environment servers of other people');

async function json(data, ...args) {
  const { code, stdout, stderr } = await runRetrace([...args, '--json', '--data-dir', data]);
  if (code !== 0) throw new Error(`retrace ${args[0]} exited with ${code}: ${stderr.slice(-2000)}`);
  return { value: JSON.parse(stdout), stderr };
}

const collect = (data, file, episodes, seed) =>
  json(
    data,
    ...['collect', '--environment', file, '--policy', 'random'],
    ...['--episodes', `${episodes}`, '--seed', `${seed}`],
  );

/** Counts a run's episodes in the store by how they ended, and its steps. */
async function stored(data, runId) {
  const query = `SELECT count() AS episodes, countIf(sealed) AS ended, countIf(end_reason = 'abandoned') AS abandoned,
    countIf(end_detail LIKE 'environment failed%') AS failed, toInt64(sum(num_steps)) AS steps,
    (SELECT count() FROM steps WHERE run_id = '${runId}') AS stored_steps FROM episodes WHERE run_id = '${runId}'`;
  const [row] = (await json(data, 'sql', query)).value;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
}

/** Kills a server of the second collection once all of them answer. */
async function killOneServer(directory, firstPort, numBefore) {
  const answers = async (port) => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/health`)).status < 500;
    } catch {
      return false;
    }
  };
  for (let place = 0; place < NUM_SERVERS; place++) {
    while (!(await answers(firstPort + place))) await sleep(50);
  }
  await sleep(1000);
  process.kill(startedServers(directory)[numBefore], 'SIGKILL');
}

async function checkServer(one, data) {
  const installed = await one.install();
  if ('unavailable' in installed) {
    console.log(`${one.name}: skipped, because ${installed.unavailable}`);
    return;
  }
  const directory = join(realpathSync(data), 'servers', one.name);
  mkdirSync(directory, { recursive: true });
  const command = one.prepare(installed, directory);
  const options = {
    ...{ numServers: NUM_SERVERS, maxEpisodes: MAX_EPISODES },
    recycleAfterEpisodes: RECYCLE_AFTER,
  };

  const startedAt = performance.now();
  const first = await collect(data, writeServerFile(directory, one, command, options), NUM_EPISODES, 1);
  const seconds = (performance.now() - startedAt) / 1000;
  const whole = await stored(data, first.value.runId);
  const numStarted = startedServers(directory).length;
  add(one, 'episodes in the store', whole.episodes, { least: NUM_EPISODES });
  add(one, 'of them ended', whole.ended, { least: NUM_EPISODES });
  add(one, 'of them failed or abandoned', whole.failed + whole.abandoned, { most: 0 });
  add(one, 'steps missing in the store', whole.steps - whole.stored_steps, { most: 0 });
  add(one, 'lines of warnings', first.stderr === '' ? 0 : first.stderr.split('\n').length, { most: 0 });
  add(one, 'servers started', numStarted, { least: NUM_SERVERS + 2 });
  table.add(`${one.name}: steps`, whole.steps, '');
  // An environment that does not tell success has none.
  if (first.value.success !== null) table.add(`${one.name}: success of random play`, first.value.success, '');
  table.add(`${one.name}: time, starts included`, seconds, 's');

  const firstPort = await freePorts(NUM_SERVERS);
  const file = writeServerFile(directory, one, command, { ...options, firstPort });
  const killed = killOneServer(directory, firstPort, numStarted);
  const second = await collect(data, file, NUM_EPISODES_KILLED, 2);
  await killed;
  const after = await stored(data, second.value.runId);
  if (after.failed > MAX_EPISODES) {
    const query = `SELECT ended_at, end_detail, num_steps FROM episodes WHERE run_id = '${second.value.runId}' AND end_detail LIKE 'environment failed%' ORDER BY ended_at`;
    console.log((await json(data, 'sql', query)).value);
  }
  add(one, 'a server killed: episodes in the store', after.episodes, { least: NUM_EPISODES_KILLED });
  add(one, 'a server killed: of them ended', after.ended, { least: NUM_EPISODES_KILLED });
  add(one, 'a server killed: episodes that failed with it', after.failed, { most: MAX_EPISODES });
  add(one, 'a server killed: steps missing in the store', after.steps - after.stored_steps, { most: 0 });
  add(one, 'processes left', processesIn(directory).length, { most: 0 });
}

function add({ name }, what, value, aim) {
  table.add(`${name}: ${what}`, value, '', aim, { required: true });
}

const data = makeDataDirectory();
try {
  const servers = environmentServers(values.agentgym);
  for (const one of servers) {
    if (values.only === undefined || values.only === one.name) await checkServer(one, data.path);
  }
  const { value } = await json(data.path, 'verify');
  table.add('store and log agree', Number(value.ok), '', { least: 1 }, { required: true });
} finally {
  data.remove();
}
table.save(
  `AgentGym 3ef9235, openenv-core 0.3.0, gymnasium 1.4.0 and verifiers 0.4.0, from source or PyPI. ${NUM_SERVERS} servers of ${MAX_EPISODES} episodes each, replaced after ${RECYCLE_AFTER} episodes; the agent plays at random.`,
);
