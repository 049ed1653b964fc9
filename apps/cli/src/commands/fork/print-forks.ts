import { renderTable } from '../../terminal/table.js';
import type { ForkReport, StepValueRow } from './read-fork-report.js';
import { counted } from '../../terminal/counted.js';

/** Prints the value of the step and of its actions, and how each differs from what happened. */
export function printForks({ runId, parent, forks, values, contextDifference }: ForkReport): void {
  const { returnFromStep, success, step, episodeId, action } = parent;
  console.log(
    `forked step ${step} of episode ${episodeId}: ${counted(forks.length, 'episode')} as run ${runId}`,
  );
  if (contextDifference !== null)
    console.log(`the context is not the one that the episode had: ${contextDifference}`);
  const outcome = success === null ? '' : success ? ', a success' : ', no success';
  console.log(
    `what happened: ${JSON.stringify(action)}, return ${format(returnFromStep)} from the step on${outcome}`,
  );
  if (values.length === 0) return;
  console.log(
    renderTable(
      [
        'action',
        'policy',
        'forks',
        'return',
        '95 % from',
        'to',
        'difference',
        'from',
        'to',
        'success',
        '95 % from',
        'to',
      ],
      values.map((row) => toRow(row, returnFromStep)),
    ),
  );
}

function toRow(row: StepValueRow, happened: number | null): string[] {
  const difference = (value: number | null) =>
    value === null || happened === null ? null : value - happened;
  return [
    row.action ?? '(its choice)',
    row.greedy ? `${row.policy} greedy` : row.policy,
    String(row.numForks),
    format(row.meanReturn),
    format(row.returnLow),
    format(row.returnHigh),
    format(difference(row.meanReturn)),
    format(difference(row.returnLow)),
    format(difference(row.returnHigh)),
    format(row.successRate),
    format(row.successLow),
    format(row.successHigh),
  ];
}

function format(value: number | null): string {
  return value === null ? '–' : value.toFixed(4);
}
