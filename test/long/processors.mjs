/**
 * Retrace's own ops as every generation of processors up to this one has them: compiled for it, then the suites of ops and generation.
 *
 *   npm run test:long -- processors
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usableProcessors } from '@retrace/policy';
import { root } from '../support/cli.mjs';

const SUITES = ['libs/policy/src/ops', 'libs/policy/src/generation', 'libs/policy/src/optimizer'];
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

/** @returns {{ numPassedTests: number, numFailedTests: number, numPendingTests: number }} */
function runSuites(environment) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-processors-'));
  const report = join(directory, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    spawnSync(process.execPath, [vitest, 'run', ...SUITES, ...reporters], {
      cwd: root,
      stdio: 'inherit',
      env: environment,
    });
    return JSON.parse(readFileSync(report, 'utf8'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const figures = [];
for (const processor of usableProcessors()) {
  const environment = { ...process.env, RETRACE_PROCESSOR: processor };
  execFileSync(process.execPath, [retrace, 'backend', 'install'], { stdio: 'inherit', env: environment });
  const { numPassedTests, numFailedTests, numPendingTests } = runSuites(environment);
  if (numFailedTests > 0 || numPassedTests === 0) process.exitCode = 1;
  figures.push(
    { name: `${processor}: tests passed`, value: numPassedTests },
    { name: `${processor}: tests failed`, value: numFailedTests },
    { name: `${processor}: tests skipped`, value: numPendingTests },
  );
}
console.log(figures.map(({ name, value }) => `${name}: ${value}`).join('\n'));
if (process.env.RETRACE_RESULT_FILE) {
  const title = "Retrace's own ops on older processors";
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
