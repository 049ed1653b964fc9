import { writeFileSync } from 'node:fs';
import { runVitest } from './vitest-report.mjs';

/**
 * A figure that a test leaves in `task.meta.figures`; its outcome and its seconds are recorded, too.
 *
 * @typedef {{ name: string, value: number | string, unit?: string }} Figure
 */

/**
 * Runs a spec of `test/long/`, which `npm test` leaves out, takes over its exit code, and writes the outcome of each of its tests for
 * `npm run test:long` to record. Writes nothing when every test was skipped.
 *
 * @param {string} name
 * @param {string} title
 */
export function runLongSpec(name, title) {
  runLongSpecs([`test/long/${name}`], title, 'long');
}

/**
 * The same for several specs that `npm test` leaves out.
 *
 * @param {readonly string[]} specs relative to the root
 * @param {string} title
 * @param {'long' | 'release'} kind of the specs, as `RETRACE_TESTS` names it
 */
export function runLongSpecs(specs, title, kind) {
  const { status, report } = runVitest(specs, { ...process.env, RETRACE_TESTS: kind });
  process.exitCode = status;
  const figures = report ? figuresOf(report) : [];
  if (process.env.RETRACE_RESULT_FILE && figures.length > 0)
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}

/** @param {import('./vitest-report.mjs').VitestReport} report @returns {Figure[]} */
function figuresOf({ testResults }) {
  const ran = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed');
  return ran.flatMap(({ title, status, duration, meta }) => [
    { name: title, value: status },
    { name: `${title}: time`, value: (duration ?? 0) / 1000, unit: 's' },
    ...(meta?.figures ?? []),
  ]);
}
