/**
 * Makes an update with each of the twelve presets of AgentGym's worlds (`textcraft-ppo` … `webshop-gigpo`), with a tiny random model and
 * counts scaled down by `--set`: textcraft and babyai on AgentGym's real servers, alfworld and webshop on servers of ours with the same
 * routes, bodies and errors (`test/support/agentgym-stand-in.mjs`). Each run commits its update, no episode fails, and `retrace play` shows
 * success by kind of task.
 *
 *   npm run test:long -- agentgym-presets [-- --agentgym path/to/a/repository/of/AgentGym] [--only webshop]
 *
 * A random model says nothing that counts, so a preset whose episodes all earn the same learns nothing, and `retrace train` says so: that is
 * counted, not refused. Takes ten minutes.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { FigureTable } from '../../bench/figure-table.mjs';
import { writeByteModel } from '../support/byte-model.mjs';
import { makeDataDirectory, root, runRetrace } from '../support/cli.mjs';
import { environmentServers, freePorts } from '../support/environment-servers.mjs';

const ALGORITHMS = ['ppo', 'grpo', 'gigpo'];
const MAX_PROMPT_TOKENS = 6000;
const MAX_NEW_TOKENS = 16;
const NUM_TASKS = 24;
const GROUPS = { ppo: [4, 1], grpo: [2, 2], gigpo: [2, 2] };
const NUM_EPISODES = 4;

const { values } = parseArgs({ options: { agentgym: { type: 'string' }, only: { type: 'string' } } });
const table = new FigureTable('Presets of the worlds of AgentGym');
const data = makeDataDirectory();
const directory = realpathSync(data.path);

function realServer(family) {
  const one = environmentServers(values.agentgym).find(({ name }) => name === family);
  return {
    family,
    kind: 'real',
    command: async (folder) => {
      const installed = await one.install();
      return 'unavailable' in installed ? installed : one.prepare(installed, folder);
    },
  };
}

function standIn(family) {
  const program = join(root, 'test', 'support', 'agentgym-stand-in.mjs');
  const command = [process.execPath, program, family, '{port}'];
  return { family, kind: 'stand-in', command: () => Promise.resolve(command) };
}

async function makeModel() {
  await openBackend();
  const path = join(directory, 'model');
  await writeByteModel(path, { maxPositions: MAX_PROMPT_TOKENS + MAX_NEW_TOKENS });
  return path;
}

async function startServer({ family, command }) {
  const folder = join(directory, family);
  mkdirSync(folder);
  const parts = await command(folder);
  if ('unavailable' in parts) return parts;
  const port = await freePorts(1);
  const [program, ...args] = parts.map((part) => part.replace('{port}', `${port}`));
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${family}: its server ended with ${child.exitCode}`);
    try {
      await fetch(url);
      return { url, stop: () => child.kill() };
    } catch {
      await sleep(100);
    }
  }
}

async function json(...args) {
  const { code, stdout, stderr } = await runRetrace([
    ...args,
    '--json',
    '--data-dir',
    join(directory, 'data'),
  ]);
  if (code !== 0) throw new Error(`retrace ${args[0]} exited with ${code}: ${stderr.slice(-2000)}`);
  return JSON.parse(stdout);
}

function settings(model, url, algorithm) {
  const [groupsPerRound, groupSize] = GROUPS[algorithm];
  return Object.entries({
    'policy.model': model,
    'policy.maxPositions': MAX_PROMPT_TOKENS + MAX_NEW_TOKENS,
    'environment.server.urls': JSON.stringify([url]),
    'environment.server.maxSteps': 3,
    'agent.maxTurns': 3,
    'agent.maxPromptTokens': MAX_PROMPT_TOKENS,
    'context.maxNewTokens': MAX_NEW_TOKENS,
    'collection.groupsPerRound': groupsPerRound,
    'collection.groupSize': groupSize,
    'optimizer.miniBatchSequences': 4,
    'evaluation.numValidationEpisodes': 2,
    'evaluation.numTestEpisodes': 0,
  }).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
}

async function trainPreset({ family, kind }, algorithm, model, url) {
  const preset = `${family}-${algorithm}`;
  const { code, stdout, stderr } = await runRetrace([
    ...['train', '--recipe', preset, '--updates', '1', '--data-dir', join(directory, 'data')],
    ...settings(model, url, algorithm),
  ]);
  const learnedNothing = /learned nothing|learned anything/.test(`${stdout}\n${stderr}`);
  if (code !== 0 && !learnedNothing) console.error(`${stdout}\n${stderr}`.split('\n').slice(-15).join('\n'));
  const [run] = await json(
    'sql',
    `SELECT r.run_id AS runId, (SELECT count() FROM updates WHERE run_id = r.run_id) AS updates FROM runs AS r WHERE r.name LIKE '${preset}%' ORDER BY started_at DESC LIMIT 1`,
  );
  const [episodes] = await json(
    'sql',
    `SELECT countIf(split = 'train') AS trained, countIf(end_detail LIKE '% failed: %') AS failed, countIf(num_steps > 0) AS played FROM episodes WHERE run_id = '${run.runId}'`,
  );
  const add = (what, value, aim) =>
    table.add(`${preset} (${kind}): ${what}`, Number(value), '', aim, { required: true });
  add('updates', run.updates, { least: 1 });
  add('training episodes', episodes.trained, { least: NUM_EPISODES });
  add('episodes that failed', episodes.failed, { most: 0 });
  add('ended otherwise than trained, or having learned nothing', Number(code !== 0 && !learnedNothing), {
    most: 0,
  });
  table.add(`${preset} (${kind}): learned nothing`, Number(learnedNothing), '');
}

/** Plays tasks at random, or with the model where the server lists no actions, and counts the kinds of tasks in the report. */
async function playByFamily({ family, kind }, model, url) {
  const server = { protocol: 'agentgym', family, urls: [url], maxSteps: 3, numTasks: 400 };
  const file = join(directory, `${family}.json`);
  writeFileSync(file, JSON.stringify({ name: family, server }));
  const report = await json(
    ...['play', '--environment', file, '--policy', 'random', '--tasks', `${NUM_TASKS}`],
  );
  const families = new Set(report.rows.flatMap(({ family: name }) => (name ? [name] : [])));
  const least = family === 'webshop' ? 0 : 2;
  table.add(`${family} (${kind}): kinds of tasks in a report of play`, families.size, '', { least }, { required: true }); // oxfmt-ignore
}

try {
  const model = await makeModel();
  const servers = [realServer('textcraft'), realServer('babyai'), standIn('alfworld'), standIn('webshop')];
  for (const one of servers.filter(({ family }) => values.only === undefined || values.only === family)) {
    const server = await startServer(one);
    if ('unavailable' in server) {
      console.log(`${one.family}: skipped, because ${server.unavailable}`);
      continue;
    }
    try {
      for (const algorithm of ALGORITHMS) await trainPreset(one, algorithm, model, server.url);
      await playByFamily(one, model, server.url);
    } finally {
      server.stop();
    }
  }
} finally {
  data.remove();
}
table.save(
  'textcraft and babyai: servers of AgentGym 3ef9235. alfworld: a server of ours with its routes over the world household in the language of ALFWorld 0.3; webshop: one over a small shop of ours with WebShop’s pages. A random model of one layer and bytes as tokens; 4 episodes of 3 turns in an update.',
);
