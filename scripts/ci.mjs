/**
 * Everything that CI checks after `npm ci`: `bash .ci/run`. `npm run check` runs its first part.
 *
 *   node scripts/ci.mjs [check]
 *
 * Records how long each stage and the costliest spec files took in `docs/results/ci.md` (all of CI only). The last line is "N passed, N failed, N skipped".
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKS, STAGES } from './ci/stages.mjs';
import { runStages } from './ci/stage-runner.mjs';
import { countTests, figuresOf, readSpecReports } from './ci/seconds.mjs';
import { writeResult } from './results/record-results.mjs';
import { root } from './run-tool.mjs';

const isCheck = process.argv[2] === 'check';
const startedAt = new Date(Number(process.env.RETRACE_CI_STARTED_MS ?? Date.now()));
const folder = mkdtempSync(join(tmpdir(), 'retrace-ci-'));
const installation = {
  name: 'install',
  outcome: 'passed',
  seconds: (Date.now() - startedAt.getTime()) / 1000,
  processorSeconds: null,
};

const ended = await runStages(isCheck ? CHECKS : STAGES, {
  cores: availableParallelism(),
  root,
  outputs: join(folder, 'outputs'),
  environment: { RETRACE_SPEC_REPORTS: join(folder, 'specs') },
});
const stages = isCheck ? ended : [installation, ...ended];
const reports = readSpecReports(join(folder, 'specs'));
const { passed, failed, skipped } = countTests(stages, reports);

process.stdout.write('\n');
for (const { name, outcome, seconds, processorSeconds } of stages) {
  const ofProcessor = processorSeconds === null ? '' : `, ${Math.round(processorSeconds)} s of a processor`;
  console.log(
    `${outcome === 'failed' ? 'FAILED ' : outcome.padEnd(7)}  ${name} (${Math.round(seconds)} s${ofProcessor})`,
  );
}
if (!isCheck) {
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const circumstances = {
    command: 'bash .ci/run',
    passed: failed === 0,
    date: startedAt.toISOString(),
    seconds,
  };
  writeResult('ci.md', circumstances, figuresOf(stages, reports, seconds));
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
