import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The report of `spec-seconds-reporter.mjs` on one run of vitest.
 *
 * @typedef {object} SpecReport
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly { file: string, project: string, seconds: number }[]} specs
 */

/** Spec files that a result lists. */
const NUM_SLOWEST = 30;
const AIM_SECONDS = 720;

/** @param {string} folder @returns {SpecReport[]} none where no tests ran */
export function readSpecReports(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

/**
 * Counts stages and tests together: each stage is one.
 *
 * @param {readonly import('./stage-runner.mjs').StageResult[]} stages
 * @param {readonly SpecReport[]} reports
 */
export function countTests(stages, reports) {
  /** @param {'passed' | 'failed' | 'skipped'} outcome */
  const count = (outcome) =>
    stages.filter((stage) => stage.outcome === outcome).length +
    reports.reduce((sum, report) => sum + report[outcome], 0);
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/**
 * The table of a run: seconds a stage, then the slowest spec files.
 *
 * @param {readonly import('./stage-runner.mjs').StageResult[]} stages
 * @param {readonly SpecReport[]} reports
 * @param {number} seconds of the whole run
 * @returns {import('../results/result-file.mjs').Measured}
 */
export function figuresOf(stages, reports, seconds) {
  const specs = reports
    .flatMap((report) => report.specs)
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, NUM_SLOWEST);
  const { passed, failed, skipped } = countTests(stages, reports);
  return {
    title: 'Continuous integration: seconds of each stage and of the slowest spec files',
    figures: [
      {
        name: 'all of `.ci/run`',
        value: Math.round(seconds),
        unit: 's',
        aim: `≤ ${AIM_SECONDS} on a quiet machine`,
      },
      { name: 'tests and stages that passed', value: passed },
      { name: 'that failed', value: failed },
      { name: 'that were skipped', value: skipped },
      ...stages.map(({ name, seconds }) => ({
        name: `stage: ${name}`,
        value: Math.round(seconds),
        unit: 's',
      })),
      ...stages.flatMap(({ name, processorSeconds }) =>
        processorSeconds >= 1
          ? [{ name: `processor time of ${name}`, value: Math.round(processorSeconds), unit: 's' }]
          : [],
      ),
      ...specs.map((spec) => ({ name: spec.file, value: Math.round(spec.seconds), unit: 's' })),
    ],
    notes:
      'Stages run side by side, and so do spec files: their seconds add up to more than the whole. A spec file counts from its first line to its last test, with what it waits for. Processor time is that of a stage and of the processes that it waited for.',
  };
}
