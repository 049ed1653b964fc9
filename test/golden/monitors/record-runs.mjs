/**
 * Trains built-in recipes and writes what their updates give to the monitors, a file for each recipe: `node record-runs.mjs <seconds> <recipe>… [key=value…]`.
 * A run that takes longer than the seconds is recorded as far as it came; values with a key replace those of the recipes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { resolveRecipe } from '@retrace/config';
import { makeDataDirectory, runRetrace, startRetrace } from '../../support/cli.mjs';

/** Metrics that monitors read. */
const METRICS =
  /^(train\/(entropy|numGroups|numEqualGroups|numSingletonGroups|numGroupsTooStale|clipFraction|gradientNorm|ratioMaxDeviation)|success\/mean|reward\/(mean|min|max|component\/.*)|episode\/actionTokens\/mean|time\/(read|update))$/;

/** Four digits are enough for bounds. */
const rounded = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);

/**
 * Makes columns of lines: a value for each update, null where it was not measured.
 *
 * @param {string} recipe
 * @param {readonly string[]} settings
 * @param {readonly string[]} lines as `watch-monitors.mjs` writes them
 */
export function columnsOf(recipe, settings, lines) {
  const updates = lines.map((line) => JSON.parse(line));
  const names = new Set(
    updates.flatMap(({ metrics }) => Object.keys(metrics).filter((name) => METRICS.test(name))),
  );
  const columns = (fields) =>
    Object.fromEntries(fields.map(([name, read]) => [name, updates.map(read).map(rounded)]));
  return {
    recipe,
    settings,
    numUpdates: updates.length,
    metrics: columns([...names].sort().map((name) => [name, ({ metrics }) => metrics[name]])),
    episodes: columns(
      ['numEpisodes', 'numMissing', 'repeatedFraction', 'uniformEntropy'].map((name) => [
        name,
        (update) => update[name],
      ]),
    ),
  };
}

/** @param {ReturnType<typeof columnsOf>} recording one line a column, so that a change of one shows as one */
export function writeRecording(recording) {
  const column = ([name, values]) => `    ${JSON.stringify(name)}: ${JSON.stringify(values)}`;
  const group = (name) =>
    `  ${JSON.stringify(name)}: {\n${Object.entries(recording[name]).map(column).join(',\n')}\n  }`;
  const field = (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(recording[name])}`;
  const head = ['recipe', 'settings', 'numUpdates'].map(field).join(',\n');
  const text = `{\n${[head, group('metrics'), group('episodes')].join(',\n')}\n}\n`;
  writeFileSync(new URL(`${recording.recipe}.json`, import.meta.url), text);
}

async function record(recipe, settings, seconds) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-monitors-'));
  const data = makeDataDirectory();
  const file = join(directory, 'updates.ndjson');
  writeFileSync(file, '');
  const teacher = resolveRecipe(recipe).distillation?.teacher.policy?.run;
  if (teacher !== undefined) await runRetrace(['train', '--recipe', teacher, '--data-dir', data.path]);
  const sets = settings.flatMap((setting) => ['--set', setting]);
  const session = startRetrace(['train', '--recipe', recipe, ...sets, '--data-dir', data.path], {
    RETRACE_MONITORED_FILE: file,
    // The option changes modules that the processes must load as they are.
    RETRACE_BUNDLE: 'no',
    NODE_OPTIONS: `--import=${new URL('watch-monitors.mjs', import.meta.url).href}`,
  });
  const stop = new AbortController();
  const timeout = sleep(seconds * 1000, 'timeout', { signal: stop.signal }).catch(() => 'ended');
  const first = await Promise.race([timeout, session.ended]);
  stop.abort();
  if (first === 'timeout') await session.stop('SIGINT');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  writeRecording(columnsOf(recipe, settings, lines));
  console.log(`${recipe}: ${lines.length} updates`);
  rmSync(directory, { recursive: true });
  data.remove();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seconds, ...names] = process.argv.slice(2);
  const settings = names.filter((name) => name.includes('='));
  for (const recipe of names.filter((name) => !name.includes('=')))
    await record(recipe, settings, Number(seconds));
}
