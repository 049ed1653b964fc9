import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './cli.mjs';

/**
 * @typedef {object} TestReport
 * @property {string} title
 * @property {'passed' | 'failed' | 'skipped' | 'pending' | 'todo' | 'disabled'} status
 * @property {number | null} [duration] ms
 * @property {{ figures?: readonly { name: string, value: number | string, unit?: string }[] }} [meta]
 */

/**
 * @typedef {object} VitestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {readonly { assertionResults: readonly TestReport[] }[]} testResults
 */

/**
 * Runs these specs and shows vitest's output; returns its exit code and its report, null where it wrote none.
 *
 * @param {readonly string[]} specs
 * @param {NodeJS.ProcessEnv} environment
 * @returns {{ status: number, report: VitestReport | null }}
 */
export function runVitest(specs, environment) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-vitest-'));
  const file = join(directory, 'report.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  try {
    const { status } = spawnSync(process.execPath, [vitest, 'run', ...specs, ...reporters], {
      cwd: root,
      stdio: 'inherit',
      env: environment,
    });
    return {
      status: status ?? 1,
      report: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null,
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
