/**
 * `npm run results`: lists each bench and long test with the date of each of its recorded results, how long it took, and whether the code
 * that it measures has changed since, oldest first.
 *
 *   npm run results -- --stale      only those whose code has changed, and those that were never recorded
 *   npm run results -- NAME …       these, with the files that changed
 *
 * `results/measured-code.mjs` says which code a script measures, `results/code-fingerprint.mjs` which change of a file counts. What is
 * compared is HEAD. A result counts as stale, too, where its commit is unknown or it was recorded with uncommitted changes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { codeFingerprint } from './results/code-fingerprint.mjs';
import { History } from './results/history.mjs';
import { readMeasuredCode } from './results/measured-code.mjs';
import { BENCHES, CI, listScripts, LONG_TESTS } from './results/measuring-scripts.mjs';
import { RESULTS_FOLDER } from './results/record-results.mjs';
import { listResults, readCircumstances } from './results/result-file.mjs';
import { changedFiles, oldestFirst } from './results/staleness.mjs';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { stale: { type: 'boolean', default: false } },
});
const history = new History();
const now = history.filesAt('HEAD');
const fingerprints = new Map();

const known = [CI, ...listScripts(BENCHES), ...listScripts(LONG_TESTS)];
const unknown = names.filter((name) => !known.some((script) => script.name === name));
if (unknown.length > 0) {
  console.error(
    `Unknown bench or long test: ${unknown.join(', ')}. Known: ${known.map(({ name }) => name).join(', ')}`,
  );
  process.exit(1);
}
const code = await readMeasuredCode(new Set(now.keys()));
const results = oldestFirst(
  known.filter(({ name }) => names.length === 0 || names.includes(name)).flatMap(readResults),
);
const shown = values.stale ? results.filter(({ staleness }) => staleness?.kind !== 'current') : results;
for (const result of shown) printResult(result);
printSum(shown);

/** @param {{ name: string, script: string, command: string }} script */
function readResults({ name, script, command }) {
  const files = listResults(RESULTS_FOLDER, name);
  if (files.length === 0) return [{ name, command, recorded: null, staleness: null }];
  return files.map((file) => {
    const recorded = readCircumstances(readFileSync(join(RESULTS_FOLDER, file), 'utf8'), file);
    return { name, command: recorded.command, recorded, staleness: stalenessOf(script, recorded.commit) };
  });
}

/** @param {string} script @param {string} commit @returns {import('./results/staleness.mjs').Staleness} */
function stalenessOf(script, commit) {
  const files = code.of(script);
  if (!/^[0-9a-f]+$/.test(commit)) return { kind: 'unknown', why: 'uncommitted changes' };
  if (!history.has(commit)) return { kind: 'unknown', why: `unknown commit ${commit}` };
  const changed = changedFiles({
    files,
    now,
    then: history.filesAt(commit),
    renames: history.renamesSince(commit),
    fingerprint,
  });
  if (changed.length === 0) return { kind: 'current', numFiles: files.length };
  return { kind: 'changed', files: changed, numFiles: files.length };
}

/** @param {string} blob @param {string} path */
function fingerprint(blob, path) {
  if (!fingerprints.has(blob)) fingerprints.set(blob, codeFingerprint(history.read(blob), path));
  return fingerprints.get(blob);
}

/** @param {ReturnType<typeof readResults>[number]} result */
function printResult({ command, recorded, staleness }) {
  const when = recorded === null ? 'never' : recorded.date.slice(0, 16).replace('T', ' ');
  const took = recorded === null ? '' : formatSeconds(recorded.seconds);
  console.log(`${when.padEnd(16)}  ${took.padStart(8)}  ${describe(staleness).padEnd(27)}  ${command}`);
  if (names.length > 0 && staleness?.kind === 'changed')
    for (const file of staleness.files) console.log(`${' '.repeat(30)}${file}`);
}

/** @param {import('./results/staleness.mjs').Staleness | null} staleness null: never recorded */
function describe(staleness) {
  if (staleness === null) return 'never recorded';
  if (staleness.kind === 'unknown') return staleness.why;
  if (staleness.kind === 'current') return `current (${staleness.numFiles} files)`;
  return `${staleness.files.length} of ${staleness.numFiles} files changed`;
}

/** @param {Readonly<ReturnType<typeof readResults>>} results */
function printSum(results) {
  const recorded = results.flatMap((result) => result.recorded ?? []);
  const seconds = recorded.reduce((sum, result) => sum + result.seconds, 0);
  const numNever = results.length - recorded.length;
  const never = numNever === 0 ? '' : `; ${numNever} never recorded`;
  console.log(
    `${results.length} ${values.stale ? 'to measure again' : 'in all'}, ${formatSeconds(seconds)} last time${never}`,
  );
}

/** @param {number} seconds */
function formatSeconds(seconds) {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
