/**
 * Measures seconds to 80 % success, compared with TRL's GRPOTrainer on the same task, initial weights, tasks, rewards and settings in the same
 * run. The task is the bandit (one turn), because the default recipe's frozen lakes take many turns, each with a prompt of its own, and TRL
 * rewards whole answers to one prompt. The reward of all sides is success: with the bandit's own payouts, which are mostly luck, GRPO's division
 * by the deviation of a group often makes the steady arm the better one, on either side.
 *
 * Retrace trains by its own command, `retrace train`: the recipe `bandit-ppo`, and its GRPO variant, whose settings TRL gets too.
 *
 *   RETRACE_PEER_PYTHON=~/.cache/retrace-peers/bin/python npm run bench -- seconds-to-success [-- --seeds 1,2,3]
 *
 * RETRACE_PEER_PYTHON names a Python with torch and TRL (`bench/peers/set-up.sh <directory>` makes one); without it TRL's figures are left out.
 * Success is that of sampled answers, as a moving mean over two updates. It is reached when the last episode of an update has been judged; time
 * runs from the start of the command, and from the start of its first episode. The sides take turns, at one priority, and the figures are
 * medians over the seeds.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { initialKlCoefficient, resolveRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';
import { runRetrace } from '../test/support/train-recipe.mjs';
import { FigureTable } from './figure-table.mjs';
import { trainWithTrl } from './trl-peer.mjs';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1,2,3' } } });
const RECIPE = 'bandit-ppo';
const TARGET = 0.8;
/** Success is averaged over so many updates. */
const MOVING_UPDATES = 2;
const DEADLINE_MS = 600_000;
const PPO = ['reward.components=[{"reward":"goal","options":{"success":1,"failure":0}}]'];
const GRPO = [
  ...PPO,
  'advantage={"estimator":"grpo","options":{},"shuffle":false}',
  ...['collection.groupsPerRound=32', 'collection.groupSize=8'],
  // GRPOTrainer has neither of the first two.
  ...['loss.entropyCoefficient=0', 'loss.valueCoefficient=0'],
  ...['optimizer.schedule=constant', 'optimizer.warmupFraction=0'],
];

const python = process.env.RETRACE_PEER_PYTHON;
const bandit = getEnvironment('bandit');
const sides = { ppo: [], grpo: [], trl: [] };
const checks = [];
for (const seed of values.seeds.split(',').map(Number)) await measure(seed);
report();

/** Trains all sides with one seed. */
async function measure(seed) {
  for (const [name, assignments] of [
    ['ppo', PPO],
    ['grpo', GRPO],
  ]) {
    const directory = makeDataDirectory();
    try {
      sides[name].push(await trainWithRetrace(directory.path, { seed, assignments }));
      show(name, seed);
      if (name === 'ppo' || python === undefined) continue;
      const peer = await trainWithTrl(python, writeJob(directory.path, seed));
      checks.push(peer.checks);
      sides.trl.push(reached(peer.updates));
      show('trl', seed);
    } finally {
      directory.remove();
    }
  }
}

/** Trains by `retrace train` until the target is reached, and reads from the store when that was. */
async function trainWithRetrace(directory, { seed, assignments }) {
  const settings = assignments.flatMap((assignment) => ['--set', assignment]);
  const startedAt = Date.now();
  const session = startRetrace([
    ...['train', '--recipe', RECIPE, '--seed', `${seed}`, '--data-dir', directory, '--nice', '0'],
    ...settings,
  ]);
  try {
    while (!hasReachedTarget(session.lines) && Date.now() < startedAt + DEADLINE_MS) await sleep(200);
    await session.stop('SIGINT');
  } finally {
    await session.killTree();
  }
  const rows = ask(
    directory,
    `SELECT policy_version_min AS version, avg(success) AS success, count() AS episodes,
       toUnixTimestamp64Milli(min(started_at)) AS first, toUnixTimestamp64Milli(max(ended_at)) AS last
     FROM episodes WHERE split = 'train' AND sealed GROUP BY version ORDER BY version`,
  );
  const first = Number(rows[0].first);
  return reached(
    rows.map(({ success, episodes, last }) => ({
      success: Number(success),
      episodes: Number(episodes),
      sinceCommand: (Number(last) - startedAt) / 1000,
      sinceEpisode: (Number(last) - first) / 1000,
    })),
  );
}

/** Whether the lines of a run tell of the target, and of an update after it: they round. */
function hasReachedTarget(lines) {
  const updates = lines.flatMap((line) => {
    const found = /update \d+ of .* success ([\d.]+)/.exec(line);
    return found === null ? [] : [{ success: Number(found[1]), episodes: 0 }];
  });
  return reached(updates.slice(0, -1)).updates < Infinity || lines.some((line) => /run ended/.test(line));
}

/** The first update whose moving success reaches the target. */
function reached(updates) {
  const index = updates.findIndex((_, last) => {
    const recent = updates.slice(Math.max(0, last + 1 - MOVING_UPDATES), last + 1);
    const mean = recent.reduce((sum, { success }) => sum + success, 0) / recent.length;
    return recent.length === MOVING_UPDATES && mean >= TARGET;
  });
  if (index === -1)
    return { sinceCommand: Infinity, sinceEpisode: Infinity, updates: Infinity, episodes: Infinity };
  const { sinceCommand, sinceEpisode } = updates[index];
  const episodes = updates.slice(0, index + 1).reduce((sum, update) => sum + update.episodes, 0);
  // The episodes of place n were played by the policy that n updates had made.
  return { sinceCommand, sinceEpisode, updates: index, episodes };
}

/** Describes the run for TRL: its first weights, its tasks and settings, and episodes to check all this against. */
function writeJob(directory, seed) {
  const recipe = resolveRecipe(RECIPE, { seed, assignments: GRPO });
  const { collection, optimizer, loss, context, numUpdates } = recipe;
  const { groupsPerRound, groupSize, temperature } = collection;
  const model = join(directory, 'first-policy');
  runRetrace(['save-policy', model, '--policy', '0', '--data-dir', directory]);
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxGradientNorm, epochs } = optimizer;
  const { clipLow, clipHigh } = loss;
  const job = {
    ...{ directory: model, output: join(directory, 'trl'), seed, numThreads: cpus().length },
    ...{ target: TARGET, movingUpdates: MOVING_UPDATES, numUpdates },
    ...{ groupsPerUpdate: groupsPerRound, groupSize, temperature, maxNewTokens: context.maxNewTokens },
    ...{ learningRate, beta1, beta2, epsilon, weightDecay, maxGradientNorm, epochs },
    miniBatches: (groupsPerRound * groupSize) / optimizer.miniBatchActionTokens,
    ...{ clipLow, clipHigh, klCoefficient: initialKlCoefficient(loss) },
    tasks: Array.from({ length: numUpdates * groupsPerRound }, (_, index) =>
      describeTask(bandit.sampleTask({ split: 'train', index, seed }).task),
    ),
    sampled: sampledBy(directory),
  };
  requireSameTasks(job, groupsPerRound);
  const path = join(directory, 'trl-job.json');
  writeFileSync(path, JSON.stringify(job));
  return path;
}

/** The prompt of a task, its arms, and the one that the environment calls a success. */
function describeTask(task) {
  const environment = bandit.create();
  const { text } = environment.reset({ task, seed: 0 });
  const highArm = task.arms.find((arm) => {
    environment.reset({ task, seed: 0 });
    return environment.step(arm).success;
  });
  return { prompt: `${text} <end>`, arms: task.arms, highArm };
}

/** Reads what the collector sampled with the first policy: tokens, the log probability of the answer, and the verdict. */
function sampledBy(directory) {
  const rows = ask(
    directory,
    `SELECT task, token_ids, token_logprobs[-1] AS logprob, success
     FROM steps JOIN episodes USING (run_id, episode_id)
     WHERE split = 'train' AND policy_version_min = 0 ORDER BY episode_id`,
  );
  return rows.map(({ task, token_ids: tokenIds, logprob, success }) => {
    const isSuccess = success === true || success === 'true' || Number(success) === 1;
    return { ...describeTask(JSON.parse(task)), tokenIds, logprob: Number(logprob), success: isSuccess };
  });
}

/** @throws {Error} unless the first tasks of TRL are those that the collector played first */
function requireSameTasks({ tasks, sampled }, numTasks) {
  const promptsOf = (rows) => [...new Set(rows.map(({ prompt }) => prompt))].sort().join('; ');
  const [asked, played] = [promptsOf(tasks.slice(0, numTasks)), promptsOf(sampled)];
  if (asked !== played) throw new Error(`TRL would get the tasks ${asked}; the collector played ${played}`);
}

function report() {
  const table = new FigureTable(
    `Seconds to ${100 * TARGET} % success on the bandit, ${cpus()[0].model.trim()}`,
  );
  addSide(table, 'Retrace, PPO with a critic', sides.ppo);
  addSide(table, 'Retrace, GRPO', sides.grpo);
  if (checks.length > 0) {
    const [{ versions }] = checks;
    addSide(table, `TRL ${versions.trl}, GRPO, torch ${versions.torch}`, sides.trl);
    addRatios(table, 'GRPO', sides.grpo);
    addRatios(table, 'PPO', sides.ppo);
    const largest = Math.max(...checks.map(({ largestDifference }) => largestDifference));
    const differing = checks.reduce((sum, { disagreements }) => sum + disagreements, 0);
    table.add('largest difference of a logprob of the first policies', largest, 'nats', { most: 1e-4 });
    table.add('episodes of other prompts or verdicts', differing, '', { most: 0 }, { required: true });
  }
  table.save();
}

function addSide(table, name, side) {
  table.add(`${name}: from the command`, median(side, 'sinceCommand'), 's');
  table.add(`${name}: from the first episode`, median(side, 'sinceEpisode'), 's');
  table.add(`${name}: updates`, median(side, 'updates'), '');
  table.add(`${name}: episodes`, median(side, 'episodes'), '');
}

function addRatios(table, name, side) {
  for (const [clock, what] of [
    ['sinceCommand', 'from the command'],
    ['sinceEpisode', 'from the first episode'],
  ]) {
    const ratio = median(sides.trl, clock) / median(side, clock);
    table.add(`TRL's seconds over those of Retrace's ${name}, ${what}`, ratio, '×');
  }
}

function show(name, seed) {
  const { sinceCommand, sinceEpisode, updates, episodes } = sides[name].at(-1);
  const seconds = `${sinceCommand.toFixed(1)} s from the command, ${sinceEpisode.toFixed(1)} s from the first episode`;
  console.log(`seed ${seed}, ${name}: ${seconds}, ${updates} updates, ${episodes} episodes`);
}

function ask(directory, sql) {
  return JSON.parse(runRetrace(['sql', sql, '--format', 'json', '--data-dir', directory]));
}

function median(side, key) {
  return side.map((run) => run[key]).toSorted((a, b) => a - b)[side.length >> 1];
}
