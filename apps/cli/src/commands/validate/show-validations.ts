import { findRun } from '../../run/find-run.js';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';

interface ShowValidationsOptions extends CommonOptions {
  readonly run: string;
}

/** A row of the view `validations`. */
interface ShownValidation {
  readonly policyVersion: number;
  readonly updateNumber: number;
  readonly split: string;
  readonly decoding: string;
  readonly family: string | null;
  readonly numEpisodes: number;
  readonly numFailed: number;
  readonly success: number | null;
  readonly successLow: number;
  readonly successHigh: number;
  readonly passAtK: Readonly<Record<string, number>>;
  readonly meanReturn: number | null;
  readonly seconds: number;
}

const VALIDATIONS = `
  SELECT policy_version AS policyVersion, update_number AS updateNumber, split, decoding, family, num_episodes AS numEpisodes,
    num_failed AS numFailed, success, success_low AS successLow, success_high AS successHigh, pass_at_k AS passAtK,
    mean_return AS meanReturn, seconds
  FROM validations
  WHERE run_id = {runId:String}
  ORDER BY split = 'test', policy_version, decoding, family IS NOT NULL, family`;

const TARGETS = `
  SELECT name, min(value) AS value
  FROM metrics
  WHERE run_id = {runId:String} AND match(name, '^validation/(updates|seconds)To')
  GROUP BY name
  ORDER BY startsWith(name, 'validation/secondsTo'), value`;

/** Prints the figures of a run's validated policies, and how many updates and seconds it took to the success rates of its recipe. */
export async function showValidations({ run, dataDir, json }: ShowValidationsOptions): Promise<void> {
  const { runId, rows, targets } = await withStore({ dataDir }, async ({ log, client }) => {
    const found = await findRun(log, run, {
      has: ({ validationSuccess }) => validationSuccess.size > 0,
      lacking: 'here has a validation yet',
    });
    const params = { params: { runId: found.runId } };
    return {
      runId: found.runId,
      rows: await client.queryRows<ShownValidation>(VALIDATIONS, params),
      targets: await client.queryRows<{ name: string; value: number }>(TARGETS, params),
    };
  });
  if (json === true) {
    const reached = Object.fromEntries(targets.map(({ name, value }) => [name, value]));
    console.log(JSON.stringify({ runId, validations: rows, targets: reached }, null, 2));
    return;
  }
  console.log(renderTable(...figures(rows)));
  console.log(
    'success: 95 % by Wilson’s interval; attempts at a task that end alike count as fewer episodes',
  );
  for (const { name, value } of targets) console.log(sentence(name, value));
}

function figures(rows: readonly ShownValidation[]): [string[], (string | number)[][]] {
  const ks = [...new Set(rows.flatMap(({ passAtK }) => Object.keys(passAtK).map(Number)))];
  const passes = ks.filter((k) => k > 1).sort((a, b) => a - b);
  const columns = [
    ...[
      'policy',
      'update',
      'split',
      'sampling',
      'tasks of',
      'episodes',
      'failed',
      'success',
      '95 % from',
      'to',
    ],
    ...passes.map((k) => `pass@${k}`),
    ...['return', 'seconds'],
  ];
  const cells = rows.map((row) => [
    ...[row.policyVersion, row.updateNumber, row.split, row.decoding, row.family ?? 'all'],
    ...[row.numEpisodes, row.numFailed],
    ...[row.success, row.successLow, row.successHigh].map((value) => fixed(value, 3)),
    ...passes.map((k) => fixed(row.passAtK[k] ?? null, 3)),
    ...[fixed(row.meanReturn, 3), fixed(row.seconds, 1)],
  ]);
  return [columns, cells];
}

/** Says in words what a metric such as `validation/updatesTo50` does. */
function sentence(name: string, value: number): string {
  const [, unit, percent] = /^validation\/(updates|seconds)To(.+)$/.exec(name) ?? ['', '', ''];
  return `${unit} to ${percent} %: ${unit === 'seconds' ? value.toFixed(1) : value}`;
}

function fixed(value: number | null, numDigits: number): string {
  return value === null ? '–' : value.toFixed(numDigits);
}
