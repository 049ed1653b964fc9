/**
 * Checks that recipes learn through the whole pipeline: greedy success on held-out tasks (test split by hash of the task; drawn once, after
 * the last update), as the mean of three seeds (ten of the quickest recipe, of which each must learn; one for the control with shuffled
 * advantages), within the time of the bar. Runs one training at a time. Curves show greedy success on the validation tasks.
 *
 * Recipes that imitate first: the policy that imitation left plays the same test tasks, as do scripted agents. The last policy must be better
 * than each of these except the one it imitates and the expert, and must not be worse than imitation left it: on no seed may the 95 %
 * interval of the paired difference be below 0. With `gains` the success must have risen on every seed.
 *
 *   npm run test:long -- learning [-- --only frozen-lake-ppo [--only …] --seeds 1,2,3 --shared]
 *
 * `--shared` says that the machine had other work: times are then reported and not judged. Each recipe is recorded by itself, in
 * `docs/results/learning/<recipe>.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resolveRecipe } from '@retrace/config';
import { playHeldOut } from '../support/held-out-success.mjs';
import { trainRecipe } from '../support/train-recipe.mjs';

const bars = [
  { recipe: 'frozen-lake-ppo', success: 0.9, minutes: 4 },
  { recipe: 'frozen-lake-grpo', success: 0.85, minutes: 5 },
  { recipe: 'memory-bandit-grpo', success: 0.77, minutes: 3 },
  { recipe: 'bandit-ppo', success: 0.9, worst: 0.9, minutes: 1, seeds: '6,7,8,9,10,11,12,13,14,15' },
  { recipe: 'frozen-lake-dpo', success: 0.8, minutes: 8 },
  { recipe: 'frozen-lake-imitation', success: 0.9, minutes: 4 },
  { recipe: 'sokoban-imitation', success: 0.85, minutes: 6, baselines: ['random'], experts: ['expert'] },
  {
    recipe: 'countdown-imitation',
    success: 0.5,
    minutes: 10,
    baselines: ['random'],
    experts: ['expert'],
    gains: true,
  },
  { recipe: 'crafting-imitation', success: 0.85, minutes: 8, baselines: ['random'], experts: ['expert'] },
  { recipe: 'grid-imitation', success: 0.8, minutes: 6, baselines: ['random'], experts: ['expert'] },
  {
    recipe: 'household-imitation',
    success: 0.8,
    minutes: 6,
    baselines: ['random'],
    experts: ['searcher', 'expert'],
  },
  // No time limit: a policy that does not learn plays long episodes.
  { recipe: 'frozen-lake-ppo', shuffled: true, successBelow: 0.3, seeds: '1' },
  { recipe: 'frozen-lake-ppo', backend: 'wasm', success: 0.8, minutes: 12 },
];
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seeds: { type: 'string' },
    shared: { type: 'boolean', default: false },
  },
});
/** Recipes that were measured, as `scripts/results/record-results.mjs` takes them. */
const parts = [];
let figures = [];
let passed = true;

function report(name, value, unit) {
  figures.push({ name, value, ...(unit && { unit }) });
  console.log(`${name}: ${typeof value === 'number' ? Number(value.toPrecision(4)) : value} ${unit ?? ''}`);
}

function demand(holds, rule) {
  if (holds) return;
  passed = false;
  console.log(`MISSED: ${rule}`);
}

const percent = (success) => success.toFixed(3);

/** Formats success with its interval and families: `0.912 (0.893 … 0.928; place 0.93, clean 0.89)`. */
function describe({ rate, low, high, families }) {
  const parts = Object.entries(families).map(([family, success]) => ` ${family} ${percent(success)}`);
  return `${percent(rate)} (${percent(low)} … ${percent(high)}${parts.length > 0 ? `;${parts.join(',')}` : ''})`;
}

/** Formats a curve: `0: 0.02, 10: 0.31, …`. */
function drawCurve(curve) {
  return curve.map(({ step, value }) => `${step}: ${Number(value).toFixed(2)}`).join(', ');
}

/** Trains with a seed, and reports what was learned. */
function learn(name, bar, seed) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'retrace-learning-'));
  try {
    const run = trainRecipe(bar, { seed, dataDirectory });
    const of = `${name}, seed ${seed}`;
    report(`${of}: success on test tasks`, run.success);
    report(`${of}: curve (update: success)`, drawCurve(run.curve));
    report(`${of}: training`, run.minutes, 'min');
    report(`${of}: processor time of the whole run, all cores`, run.processorMinutes, 'min');
    if (bar.baselines) compare(of, bar, { run, seed, dataDirectory });
    return run;
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

function compare(of, { recipe, baselines, experts, gains }, { run, seed, dataDirectory }) {
  const agents = [...baselines, ...experts];
  const resolved = resolveRecipe(recipe);
  const earlierVersion = resolved.imitation.numUpdates;
  const played = playHeldOut(run, { recipe: resolved, earlierVersion, agents, seed, dataDirectory });
  for (const agent of agents) report(`${of}: ${agent}`, describe(played.agents[agent]));
  report(`${of}: after imitation`, describe(played.earlier));
  report(`${of}: after RL`, describe(played.last));
  const { mean, low, high } = played.difference;
  report(`${of}: gain of RL, paired`, `${percent(mean)} (${percent(low)} … ${percent(high)})`);
  for (const agent of baselines) {
    demand(played.last.low > played.agents[agent].high, `${of}: better than ${agent}`);
  }
  demand(high >= 0, `${of}: RL does not make it worse`);
  if (gains) demand(mean > 0, `${of}: RL makes it better`);
}

function judge(name, bar, runs) {
  const success = runs.reduce((sum, run) => sum + run.success, 0) / runs.length;
  const minutes = Math.max(...runs.map((run) => run.minutes));
  const wanted = bar.successBelow === undefined ? `at least ${bar.success}` : `below ${bar.successBelow}`;
  const isJudged = bar.minutes !== undefined && !values.shared;
  report(`${name}: mean success (${wanted})`, success);
  report(`${name}: longest training${isJudged ? ` (at most ${bar.minutes})` : ''}`, minutes, 'min');
  const worst = Math.min(...runs.map((run) => run.success));
  if (bar.worst !== undefined) report(`${name}: success on the worst seed (at least ${bar.worst})`, worst);
  demand(
    bar.worst === undefined || worst >= bar.worst,
    `${name}: success on each seed at least ${bar.worst}`,
  );
  demand(bar.success === undefined || success >= bar.success, `${name}: success ${wanted}`);
  demand(bar.successBelow === undefined || success < bar.successBelow, `${name}: success ${wanted}`);
  if (isJudged) demand(minutes <= bar.minutes, `${name}: at most ${bar.minutes} minutes`);
}

/** Measures one bar, and writes the results so far, so that a later failure loses none. */
function measure(name, bar) {
  const startedAt = new Date();
  figures = [];
  passed = true;
  const seeds = values.seeds ?? bar.seeds ?? '1,2,3';
  judge(
    name,
    bar,
    seeds.split(',').map((seed) => learn(name, bar, seed)),
  );
  parts.push({
    name: name.replaceAll(/[ ,]+/g, '-'),
    options: `--only "${name}" --seeds ${seeds}${values.shared ? ' --shared' : ''}`,
    passed,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    title: `Learning through the whole pipeline: ${name}`,
    figures,
    ...(values.shared && { notes: 'The machine had other work: times are upper bounds.' }),
  });
  if (process.env.RETRACE_RESULT_FILE) {
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ parts }));
  }
}

for (const bar of bars) {
  const name = [bar.recipe, bar.backend, bar.shuffled && 'advantages shuffled'].filter(Boolean).join(', ');
  if (values.only?.includes(name) !== false) measure(name, bar);
}
process.exitCode = parts.every((part) => part.passed) ? 0 : 1;
