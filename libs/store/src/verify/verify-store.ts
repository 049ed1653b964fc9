import type { EventLog } from '@retrace/log';
import { ControlFold } from '@retrace/trajectory';
import { readDeletedRuns } from '../admission/deletion-watch.js';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from '../position/backlog.js';
import { describeOtherLog, readOtherLogs } from '../position/other-logs.js';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { FaultList, type StoreFault } from './fault-list.js';
import { readRunHashes, type RunHash } from './row-hash.js';
import { verifyDigests } from './verify-digests.js';
import { type EpisodeCounts, verifyEpisodes } from './verify-episodes.js';
import { type RecordCounts, verifyRecords } from './verify-records.js';
import { verifyRuns } from './verify-runs.js';
import { TraceCheck } from './verify-traces.js';

export interface VerifyOptions {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly signal?: AbortSignal;
  /** Faults that the report spells out; it counts all (default 100). */
  readonly maxFaults?: number;
}

export interface VerifyReport extends Readonly<RecordCounts>, Readonly<EpisodeCounts> {
  /** No fault, and no record that the sink has not written yet. */
  readonly ok: boolean;
  readonly numFaults: number;
  /** The first ones. */
  readonly faults: readonly StoreFault[];
  /** Whether the views of runs were compared too: not while events keep coming. */
  readonly runsCompared: boolean;
  /** Hash of the rows of every run, to compare with another store's or another day's. */
  readonly runHashes: readonly RunHash[];
}

/** Ordinary rows that count as soon as their run has started, which their records do not tell. */
const OF_UNKNOWN_RUNS =
  "SELECT count() AS numOfUnknownRuns FROM dead_letters WHERE code = 'UNKNOWN_RUN' AND log_stream = 'trajectories'";

/**
 * Compares the store with the log.
 *
 * The store may have events of this log only. Three comparisons, each in slices of limited size: (1) every record of the log with the rows at its offset, which must exist and hold
 * the same event and checksum; (2) every episode, folded from its rows, with the views; the columns of each row must match its checksum;
 * (3) every run, folded from its control events, with the views, and what
 * its updates were computed from with what the store shows of those episodes. Dead letters (conflicts among them) and repeated rows are counted, but
 * are not faults.
 *
 * @throws StoreError or LogError when either can't be read; the reason of `signal` when it aborts
 */
export async function verifyStore({
  log,
  client,
  signal,
  maxFaults = 100,
}: VerifyOptions): Promise<VerifyReport> {
  const faults = new FaultList(maxFaults);
  const records: RecordCounts = {
    numRecords: 0,
    numDeadLetters: 0,
    numConflicts: 0,
    numRepeatedRows: 0,
    numDeletedRecords: 0,
    numPending: 0,
  };
  const deletedRuns = await readDeletedRuns(log);
  const episodes: EpisodeCounts = { numEpisodes: 0, numSealedEpisodes: 0 };
  const fold = new ControlFold();
  const traces = new TraceCheck(deletedRuns);
  for (const { stream, partition } of listStreamPartitions(log)) {
    await verifyRecords({
      log,
      client,
      stream,
      partition,
      deletedRuns,
      faults,
      counts: records,
      signal,
      onRecord: (offset, event) => {
        if (stream !== 'control') return;
        if (event === null) return fold.skip(offset);
        fold.apply(event, offset);
        traces.add(event, fold);
      },
    });
  }
  await findOtherLogs(client, log, faults);
  const [{ numOfUnknownRuns }] = await client.queryRows<{ numOfUnknownRuns: number }>(OF_UNKNOWN_RUNS);
  records.numDeadLetters += numOfUnknownRuns;
  await verifyEpisodes({ client, faults, counts: episodes, signal });
  const runFaults = new FaultList(maxFaults);
  await verifyRuns(client, fold, runFaults);
  await traces.finish(client, runFaults, log.logId);
  // Episodes that are still to come into the store are no fault.
  if (records.numPending === 0)
    await verifyDigests({ log, client, deletedRuns, fold, faults: runFaults, signal });
  const controlEnd = await log.endOffset('control', 0);
  const rest = { stream: 'control', partition: 0, from: fold.nextOffset, end: controlEnd } as const;
  const runsCompared = !(await hasRecordIn(log, rest));
  if (runsCompared) faults.addAll(runFaults);
  return {
    ok: faults.numFaults === 0 && records.numPending === 0,
    ...records,
    ...episodes,
    numFaults: faults.numFaults,
    faults: faults.faults,
    runsCompared,
    runHashes: await readRunHashes(client, { ...(signal && { signal }) }),
  };
}

async function findOtherLogs(client: StoreClient, { logId }: EventLog, faults: FaultList): Promise<void> {
  for (const other of await readOtherLogs(client, logId))
    faults.add('STORE_OF_OTHER_LOG', `log ${other.logId}`, describeOtherLog(other, logId));
}
