import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './cli.mjs';

/**
 * A figure that a test leaves in `task.meta.figures`, beside which its outcome and its seconds are recorded.
 *
 * @typedef {{ name: string, value: number | string, unit?: string }} Figure
 */

/**
 * @typedef {object} TestReport
 * @property {string} title
 * @property {'passed' | 'failed' | 'skipped' | 'pending' | 'todo' | 'disabled'} status
 * @property {number | null} [duration] ms
 * @property {{ figures?: readonly Figure[] }} [meta]
 */

/**
 * Runs a spec of `test/long/`, which `npm test` leaves out, takes over its exit code, and writes what each of its tests came to
 * for `npm run test:long`, which keeps it. Nothing is written where every test was skipped.
 *
 * @param {string} name
 * @param {string} title
 */
export function runLongSpec(name, title) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-long-spec-'));
  const report = join(directory, 'report.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync(process.execPath, [vitest, 'run', `test/long/${name}`, ...reporters], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, RETRACE_TESTS: 'long' },
  });
  process.exitCode = status ?? 1;
  const figures = existsSync(report) ? figuresOf(JSON.parse(readFileSync(report, 'utf8'))) : [];
  rmSync(directory, { recursive: true });
  if (process.env.RETRACE_RESULT_FILE && figures.length > 0)
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}

/** @param {{ testResults: readonly { assertionResults: readonly TestReport[] }[] }} report @returns {Figure[]} */
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
