/**
 * Retrace's own ops as every generation of processors up to this one has them: compiled for it, then the suites of ops, generation and
 * optimizer.
 *
 *   npm run test:long -- processors
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usableProcessors } from '@retrace/policy';
import { root } from '../support/cli.mjs';
import { runVitest } from '../support/vitest-report.mjs';

const SUITES = ['libs/policy/src/ops', 'libs/policy/src/generation', 'libs/policy/src/optimizer'];
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

const figures = [];
for (const processor of usableProcessors()) {
  const environment = { ...process.env, RETRACE_PROCESSOR: processor };
  execFileSync(process.execPath, [retrace, 'backend', 'install'], { stdio: 'inherit', env: environment });
  const { report } = runVitest(SUITES, environment);
  if (report === null) throw new Error(`vitest wrote no report for ${processor}`);
  const { numPassedTests, numFailedTests, numPendingTests } = report;
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
