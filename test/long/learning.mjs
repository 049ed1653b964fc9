/**
 * Checks that recipes learn through the whole pipeline: greedy success on 1,000 held-out tasks (test split by hash of the task; drawn
 * once, after the last update), as the mean of three seeds (one for the control with shuffled advantages), within the time of the
 * bar. Runs one training at a time. Curves show greedy success on the validation tasks.
 *
 *   npm run test:long -- learning [-- --only frozen-lake-ppo [--only …] --seeds 1,2,3]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../support/cli.mjs';

const bars = [
  { recipe: 'frozen-lake-ppo', success: 0.9, minutes: 4 },
  { recipe: 'frozen-lake-grpo', success: 0.85, minutes: 5 },
  { recipe: 'memory-bandit-grpo', success: 0.77, minutes: 3 },
  { recipe: 'sokoban-imitation', success: 0.85, minutes: 6 },
  { recipe: 'countdown-imitation', success: 0.5, minutes: 10 },
  // No time limit: a policy that does not learn plays long episodes.
  { recipe: 'frozen-lake-ppo', shuffled: true, successBelow: 0.3, seeds: '1' },
  { recipe: 'frozen-lake-ppo', backend: 'wasm', success: 0.8, minutes: 12 },
];
const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seeds: { type: 'string' } },
});
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

function run(args) {
  return execFileSync(process.execPath, [retrace, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** Reads greedy test success, minutes of training (from the first policy to the last), and the validation curve. */
function train({ recipe, backend = 'tensorflow', shuffled }, seed) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'retrace-learning-'));
  try {
    const args = ['train', '--recipe', recipe, '--seed', seed, '--data-dir', dataDirectory, '--json'];
    args.push('--backend', backend);
    if (shuffled) args.push('--set', 'advantage.shuffle=true');
    const { metrics } = JSON.parse(run(args));
    const ask = (sql) => JSON.parse(run(['sql', sql, '--format', 'json', '--data-dir', dataDirectory]));
    const [{ minutes }] = ask(
      "SELECT dateDiff('millisecond', min(published_at), max(published_at)) / 60000 AS minutes FROM policies",
    );
    const curve = ask("SELECT step, value FROM metrics WHERE name = 'validation/success' ORDER BY step");
    return { success: metrics['test/success'], minutes: Number(minutes), curve };
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

/** Formats a curve: `0: 0.02, 10: 0.31, …`. */
function drawCurve(curve) {
  return curve.map(({ step, value }) => `${step}: ${Number(value).toFixed(2)}`).join(', ');
}

const figures = [];
let passed = true;
for (const bar of bars) {
  const name = [bar.recipe, bar.backend, bar.shuffled && 'advantages shuffled'].filter(Boolean).join(', ');
  if (values.only?.includes(name) === false) continue;
  const results = (values.seeds ?? bar.seeds ?? '1,2,3').split(',').map((seed) => {
    const result = train(bar, seed);
    console.log(
      `${name}, seed ${seed}: success ${result.success} after ${result.minutes.toFixed(2)} minutes`,
    );
    figures.push({ name: `${name}, seed ${seed}: success on test maps`, value: result.success });
    figures.push({ name: `${name}, seed ${seed}: curve (update: success)`, value: drawCurve(result.curve) });
    return result;
  });
  const success = results.reduce((sum, result) => sum + result.success, 0) / results.length;
  const { minutes: mostMinutes = Number.POSITIVE_INFINITY } = bar;
  const minutes = Math.max(...results.map((result) => result.minutes));
  const learned = bar.successBelow === undefined ? success >= bar.success : success < bar.successBelow;
  if (!learned || minutes > mostMinutes) passed = false;
  const wanted = bar.successBelow === undefined ? `at least ${bar.success}` : `below ${bar.successBelow}`;
  const allowed = Number.isFinite(mostMinutes) ? ` (at most ${mostMinutes})` : '';
  console.log(
    `${name}: mean ${success.toFixed(4)} (${wanted}), longest ${minutes.toFixed(2)} minutes${allowed}`,
  );
  figures.push({ name: `${name}: mean success (${wanted})`, value: success });
  figures.push({ name: `${name}: longest training${allowed}`, value: minutes, unit: 'min' });
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'Learning through the whole pipeline';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = passed ? 0 : 1;
