import type { ImportCounts } from '@retrace/importers';

/** Outcome of an import, as `--json` prints it. */
export interface DumpReport extends ImportCounts {
  readonly runId: string;
  readonly name: string;
  readonly format: string;
  readonly numFiles: number;
  /** Files that are of no format, or of another one. */
  readonly unknown: readonly string[];
}

/** Prints what was taken, skipped and verified. */
export function printDumpReport(report: DumpReport): void {
  const { runId, name, format, numFiles, numEpisodes, numSteps, numRecords, numKnownRecords } = report;
  const files = numFiles === 1 ? 'one file' : `${count(numFiles)} files`;
  console.log(
    `run ${runId} (${name}): ${count(numEpisodes)} episodes with ${count(numSteps)} steps from ${files} of format ${format}`,
  );
  if (numKnownRecords > 0) {
    console.log(`${count(numKnownRecords)} of ${count(numRecords)} records had been imported before`);
  }
  if (report.numPoorerEpisodes > 0) {
    console.log(
      `${count(report.numPoorerEpisodes)} episodes are stored poorer, as a part of them can't be stored; --report names them`,
    );
  }
  printSkipped(report);
  printVerified(report);
}

function printSkipped({ skipped, unknown }: DumpReport): void {
  for (const file of unknown) console.log(`skipped ${file}: it is not of this format`);
  for (const { code, count: number, example } of skipped) {
    const row = example.row === null ? '' : `, row ${example.row}`;
    console.log(`skipped ${count(number)} × ${code}, such as ${example.file}${row}: ${example.detail}`);
  }
}

function printVerified({ verified }: DumpReport): void {
  if (verified === null) return;
  const { numEqual, numDiverged, numUnverified, numFilledRewards } = verified;
  console.log(
    `replayed: ${count(numEqual)} episodes are equal, ${count(numDiverged)} differ, ${count(numUnverified)} could not be replayed; ` +
      `${count(numFilledRewards)} rewards filled in`,
  );
}

function count(number: number): string {
  return number.toLocaleString('en');
}
