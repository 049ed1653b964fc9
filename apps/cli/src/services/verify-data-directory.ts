import { readControlState } from '@retrace/log';
import { keptCheckpoints } from '@retrace/trainer/kept-checkpoints';
import type { CheckpointFile } from '@retrace/trajectory';
import { verifyStore, type VerifyReport } from '@retrace/store';
import { renderTable } from '../terminal/table.js';
import type { StoreSession } from './connection.js';
import { openCheckpoints } from './checkpoints.js';
import { counted } from '../terminal/counted.js';

interface CheckpointFault {
  readonly code: 'CHECKPOINT_UNREADABLE';
  readonly where: string;
  readonly message: string;
}

export interface DataDirectoryReport extends Omit<VerifyReport, 'faults'> {
  readonly faults: readonly (VerifyReport['faults'][number] | CheckpointFault)[];
  /** The report in lines of text; the last one is a summary. */
  readonly lines: readonly string[];
}

/**
 * Compares the store with the log, and the checkpoints of every run with the hashes in the log. Records that the store lacks are
 * a fault, except while a run may go on beside this, or the sink of a server may still write them.
 */
export async function verifyDataDirectory(session: StoreSession): Promise<DataDirectoryReport> {
  const { log, client, hasOtherWriters } = session;
  const stored = await verifyStore({ log, client });
  const checkpointFaults = await verifyCheckpoints(session);
  const faults = [...stored.faults, ...checkpointFaults];
  const numLost = hasOtherWriters ? 0 : stored.numPending;
  const numFaults = stored.numFaults + checkpointFaults.length + numLost;
  return {
    ...stored,
    ok: numFaults === 0,
    numFaults,
    faults,
    lines: [
      ...faults.map(({ code, where, message }) => `${code} ${where}: ${message}`),
      ...(stored.numFaults > stored.faults.length
        ? [`… and ${stored.numFaults - stored.faults.length} more`]
        : []),
      ...(stored.numPending > 0 ? [`${stored.numPending} records are not in the store yet`] : []),
      renderTable(
        ['run', 'rows', 'row hash'],
        stored.runHashes.map(({ runId, numRows, rowHash }) => [
          runId === '' ? '(no run)' : runId,
          numRows,
          rowHash,
        ]),
      ),
      summarize(stored, numFaults),
    ],
  };
}

/**
 * Checks the weights that each run keeps, and the optimizer state that it would resume from. A file that a trainer removed meanwhile,
 * because newer ones were committed, is no fault.
 */
async function verifyCheckpoints({ log, directory }: StoreSession): Promise<CheckpointFault[]> {
  const files = openCheckpoints(directory);
  const faults = new Map<string, CheckpointFault>();
  for (const [sha256, { runId, ref }] of await neededCheckpoints(log)) {
    await files.verify(ref).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      faults.set(sha256, { code: 'CHECKPOINT_UNREADABLE', where: `run ${runId} file ${sha256}`, message });
    });
  }
  if (faults.size === 0) return [];
  const needed = await neededCheckpoints(log);
  return [...faults].filter(([sha256]) => needed.has(sha256)).map(([, fault]) => fault);
}

/** Checkpoint files by name, each with a run that needs it. */
async function neededCheckpoints(
  log: StoreSession['log'],
): Promise<Map<string, { readonly runId: string; readonly ref: CheckpointFile }>> {
  const { runs } = await readControlState(log);
  return new Map(
    runs.flatMap((run) => {
      const { runId, updates, started } = run;
      // Those of a recorded run are with the trainer outside.
      if (started.runKind === 'recorded') return [];
      // Of the optimizer states only the last is needed to resume.
      const last = updates.lastUpdate ? [updates.lastUpdate.optimizer] : [];
      return [...keptCheckpoints(run).weights, ...last].map((ref) => [ref.sha256, { runId, ref }] as const);
    }),
  );
}

function summarize(report: VerifyReport, numFaults: number): string {
  const counts = [
    counted(report.numRecords, 'record'),
    `${counted(report.numEpisodes, 'episode')} (${report.numSealedEpisodes.toLocaleString('en')} sealed)`,
    counted(report.numDeadLetters, 'dead letter'),
    counted(report.numConflicts, 'conflict'),
    numFaults === 0 ? 'no faults' : counted(numFaults, 'fault'),
  ];
  return counts.join(', ');
}
