import { CheckpointFiles } from '@retrace/policy';
import { verifyStore, type VerifyReport } from '@retrace/store';
import { renderTable } from '../terminal/table.js';
import { readControlState } from './control-state.js';
import type { StoreSession } from './connection.js';

interface CheckpointFault {
  readonly code: 'CHECKPOINT_UNREADABLE';
  readonly where: string;
  readonly message: string;
}

interface DataDirectoryReport extends Omit<VerifyReport, 'faults'> {
  readonly faults: readonly (VerifyReport['faults'][number] | CheckpointFault)[];
  /** The report in lines of text; the last one is a summary. */
  readonly lines: readonly string[];
}

/**
 * Compares the store with the log, and the checkpoints of every run with the hashes in the log. Records that the store lacks are
 * a fault, except while the sink of a running server may still write them.
 */
export async function verifyDataDirectory(session: StoreSession): Promise<DataDirectoryReport> {
  const { log, client, isLive } = session;
  const stored = await verifyStore({ log, client });
  const checkpointFaults = await verifyCheckpoints(session);
  const faults = [...stored.faults, ...checkpointFaults];
  const numLost = isLive ? 0 : stored.numPending;
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

/** Checks the weights of every policy version, and the optimizer state that each run would resume from. */
async function verifyCheckpoints({ log, directory }: StoreSession): Promise<CheckpointFault[]> {
  const files = new CheckpointFiles(directory.checkpoints);
  const faults: CheckpointFault[] = [];
  for (const { runId, policies, updates } of (await readControlState(log)).runs) {
    // The weights of all versions are kept, but only the last optimizer state is needed to resume.
    const refs = [...policies.all()].map(({ weights }) => weights);
    if (updates.lastUpdate) refs.push(updates.lastUpdate.optimizer);
    for (const ref of new Map(refs.map((ref) => [ref.sha256, ref])).values()) {
      await files.verify(ref).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        faults.push({ code: 'CHECKPOINT_UNREADABLE', where: `run ${runId} file ${ref.sha256}`, message });
      });
    }
  }
  return faults;
}

function summarize(report: VerifyReport, numFaults: number): string {
  const counts = [
    `${report.numRecords.toLocaleString('en')} records`,
    `${report.numEpisodes.toLocaleString('en')} episodes (${report.numSealedEpisodes.toLocaleString('en')} sealed)`,
    `${report.numDeadLetters} dead letters`,
    `${report.numConflicts} conflicts`,
    numFaults === 0 ? 'no faults' : `${numFaults} faults`,
  ];
  return counts.join(', ');
}
