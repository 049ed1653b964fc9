import type { RunSummary } from '@retrace/runs';
import { formatFigure } from '../../run/run-progress.js';

/** Prints the run's final figures on stdout: aligned lines, or one JSON object. */
export function printSummary(summary: RunSummary, isJson: boolean): void {
  if (isJson) {
    console.log(JSON.stringify(summary));
    return;
  }
  const lines: [string, string][] = [
    ['run', summary.runId],
    ['ended', summary.detail === '' ? summary.reason : `${summary.reason}: ${summary.detail}`],
    ['updates', String(summary.numUpdates)],
    ['policy version', String(summary.policyVersion ?? 'none')],
    ['weights sha256', summary.weightsSha256 ?? 'none'],
    ...Object.entries(summary.metrics).map(([name, value]): [string, string] => [name, formatFigure(value)]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines) console.log(`${name.padEnd(width)}  ${value}`);
}
