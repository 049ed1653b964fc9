import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The report of `spec-seconds-reporter.mjs` on one run of vitest.
 *
 * @typedef {object} SpecReport
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly SpecTime[]} specs
 */

/**
 * @typedef {object} SpecTime
 * @property {string} file
 * @property {string} project
 * @property {number} seconds with what it waited for
 * @property {number | null} processorSeconds of it and of the processes that it waited for; null where this can't be known
 */

/** Spec files that a result lists. */
const NUM_LISTED = 40;
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
 * The table of a run: seconds a stage, then the spec files that take most of a processor.
 *
 * @param {readonly import('./stage-runner.mjs').StageResult[]} stages
 * @param {readonly SpecReport[]} reports
 * @param {number} seconds of the whole run
 * @returns {import('../results/result-file.mjs').Measured}
 */
export function figuresOf(stages, reports, seconds) {
  const specs = reports
    .flatMap((report) => report.specs)
    .sort((a, b) => timeOf(b) - timeOf(a))
    .slice(0, NUM_LISTED);
  const { passed, failed, skipped } = countTests(stages, reports);
  return {
    title: 'Continuous integration: seconds of each stage and of the costliest spec files',
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
      ...specs.map((spec) => ({ name: spec.file, value: Math.round(timeOf(spec)), unit: 's' })),
    ],
    notes:
      'Stages run side by side: their seconds add up to more than the whole. Processor time is that of a stage and of the processes that it waited for, and so are the seconds of a spec file, which other work on the machine changes little.',
  };
}

/** Seconds of a processor; with what it waited for where that can't be known. @param {SpecTime} spec */
function timeOf({ seconds, processorSeconds }) {
  return processorSeconds ?? seconds;
}
