import type { PlayComparison, PlayReport, PlayRow } from '@retrace/store';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

/** Prints a play as tables, or as JSON. */
export function printPlay(report: PlayReport, { json }: Pick<CommonOptions, 'json'>): void {
  if (json === true) {
    console.log(JSON.stringify(report, null, 2));
    return;
  }
  console.log(`play ${report.playId}${report.isComplete ? '' : ', incomplete:'}`);
  for (const { policy, environment, numEnded, numPlanned, runId } of report.runs) {
    console.log(
      `  ${policy} in ${environment}: ${numEnded} of ${numPlanned} episodes ended, stored as run ${runId}`,
    );
  }
  console.log(`\n${renderTable(...figures(report.rows))}`);
  console.log(
    'success: 95 % by Wilson’s interval; attempts at a task that end alike count as fewer episodes',
  );
  printFailures(report.rows);
  if (report.comparisons.length === 0) return;
  console.log(`\n${renderTable(...comparisons(report.comparisons))}`);
  console.log(
    'paired by task; 95 % by Bonett’s and Price’s interval; p: McNemar’s exact test, not adjusted for several comparisons',
  );
}

function figures(rows: readonly PlayRow[]): [string[], (string | number)[][]] {
  const ks = [...new Set(rows.flatMap(({ passAtK }) => passAtK.map(({ k }) => k)))].filter((k) => k > 1);
  const columns = [
    ...['policy', 'environment', 'split', 'tasks of', 'episodes', 'failed', 'success', '95 % from', 'to'],
    ...ks.sort((a, b) => a - b).map((k) => `pass@${k}`),
    ...['return', 'steps', 'tokens in', 'out', 'cost $'],
  ];
  const cells = rows.map((row) => [
    ...[row.policy, row.environment, row.split, formatPart(row), row.numEpisodes, row.numFailed],
    ...[row.successRate, row.successLow, row.successHigh].map((value) => fixed(value, 3)),
    ...ks.map((k) => fixed(row.passAtK.find((pass) => pass.k === k)?.pass ?? null, 3)),
    ...[fixed(row.meanReturn, 3), fixed(row.meanSteps, 1)],
    ...[fixed(row.meanInputTokens, 0), fixed(row.meanOutputTokens, 0), fixed(row.costUsd, 4)],
  ]);
  return [columns, cells];
}

function comparisons(pairs: readonly PlayComparison[]): [string[], (string | number)[][]] {
  const columns = [
    ...['environment', 'split', 'first', 'second', 'tasks', 'second − first', '95 % from', 'to'],
    ...['only first', 'only second', 'p'],
  ];
  const cells = pairs.map((pair) => [
    ...[pair.environment, pair.split, pair.first, pair.second, pair.numTasks],
    ...[pair.difference, pair.differenceLow, pair.differenceHigh].map((value) => fixed(value, 3)),
    ...[pair.numOnlyFirst ?? '–', pair.numOnlySecond ?? '–', fixed(pair.pValue, 4)],
  ]);
  return [columns, cells];
}

function printFailures(rows: readonly PlayRow[]): void {
  for (const { policy, environment, split, seed, family, numFailed, numUnknown } of rows) {
    if (seed !== null || family !== null) continue;
    const where = `${policy} in ${environment}, ${split}`;
    if (numFailed > 0) {
      console.log(
        `${where}: ${numFailed} episodes failed (environment, agent or server) and count as nothing`,
      );
    }
    if (numUnknown > 0) console.log(`${where}: ${numUnknown} episodes have no known outcome`);
  }
}

function formatPart({ seed, family }: PlayRow): string {
  if (family !== null) return family;
  return seed === null ? 'all' : `seed ${seed}`;
}

function fixed(value: number | null, numDigits: number): string {
  return value === null ? '–' : value.toFixed(numDigits);
}
