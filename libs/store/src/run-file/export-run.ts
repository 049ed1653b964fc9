import type { EventLog, LogRecord } from '@retrace/log';
import { DeletedRuns, type Stream } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { RunFileError } from './run-file-error.js';
import {
  CHECKPOINT_KIND,
  digestOfEnd,
  END_KIND,
  RowDigest,
  type RunFileEnd,
  type RunFileRow,
} from './run-file-format.js';
import { writeRunFile } from './run-file-writer.js';

/** A file of the checkpoint store, named by its content. */
export interface CheckpointContent {
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export interface ExportRun {
  readonly log: EventLog;
  readonly runId: string;
  /** An existing file is replaced. */
  readonly path: string;
  /** Read one after the other (default: none). */
  readonly checkpoints?: AsyncIterable<CheckpointContent>;
  /** The run's row hash, with which the importer checks the result. */
  readonly rowHash?: string;
  /** The deletions that the log tells of, for a run that was imported again after its deletion (default: none). */
  readonly deletedRuns?: DeletedRuns;
  readonly signal?: AbortSignal;
}

export interface ExportReport extends RunFileEnd {
  /** Records of the run that hold no valid event and were left out. */
  readonly numDeadLetters: number;
}

const SLICE = { maxRecords: 4_096, maxBytes: 4 * 1024 * 1024 };
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Writes a run, as the log holds it now, into one file (`run-file-format.ts`). Holds one slice of the log in memory.
 *
 * @throws RunFileError `RUN_NOT_FOUND` when the log has no `RunStarted` of it; LogError; what the file system throws
 */
export async function exportRun(job: ExportRun): Promise<ExportReport> {
  const counts = { numEvents: 0, numCheckpointFiles: 0, numDeadLetters: 0, hasStart: false };
  let end: RunFileEnd | null = null;
  async function* rows(): AsyncGenerator<RunFileRow> {
    const digest = new RowDigest();
    const content = [readEvents(job, counts), readCheckpoints(job, counts)];
    for (const part of content) {
      for await (const row of part) {
        digest.add(row);
        yield row;
      }
    }
    const { numEvents, numCheckpointFiles } = counts;
    const { runId, rowHash = null } = job;
    end = { runId, numEvents, numCheckpointFiles, rowHash, sha256: digest.finish() };
    const row = notAnEvent(END_KIND, { record: Buffer.from(JSON.stringify(end)) });
    yield { ...row, id: digestOfEnd(row) };
  }
  await writeRunFile(job.path, job.runId, rows());
  return { ...(end as unknown as RunFileEnd), numDeadLetters: counts.numDeadLetters };
}

interface Counts {
  numEvents: number;
  numCheckpointFiles: number;
  numDeadLetters: number;
  hasStart: boolean;
}

async function* readEvents(job: ExportRun, counts: Counts): AsyncGenerator<RunFileRow> {
  const { log, runId, deletedRuns: deleted = new DeletedRuns(), signal } = job;
  for (const { stream, partition } of listStreamPartitions(log)) {
    // The control stream comes first, so a run that has not started is found out before its episodes are read.
    if (stream !== 'control' && !counts.hasStart)
      throw new RunFileError('RUN_NOT_FOUND', `Run "${runId}" not found in the log`);
    for await (const { offset, bytes } of readRecords(log, { stream, partition, signal })) {
      const envelope = peekEnvelope(bytes);
      if (envelope?.runId !== runId || envelope.kind === 'RunDeleted') continue;
      if (deleted.cover(envelope, stream, partition, offset)) continue;
      const decoded = decodeEvent(bytes);
      if (!decoded.ok) {
        counts.numDeadLetters++;
        continue;
      }
      const { kind, schemaVersion, eventId: id, episodeId, seq, occurredAtUs } = decoded.event;
      counts.numEvents++;
      counts.hasStart ||= kind === 'RunStarted';
      yield { stream, episodeId, seq, kind, schemaVersion, id, occurredAtUs, record: bytes };
    }
  }
}

/** Reads the records that a stream partition has now, a slice at a time. */
async function* readRecords(
  log: EventLog,
  {
    stream,
    partition,
    signal,
  }: { readonly stream: Stream; readonly partition: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<LogRecord> {
  const endOffset = await log.endOffset(stream, partition);
  let next = await log.startOffset(stream, partition);
  while (next < endOffset) {
    signal?.throwIfAborted();
    const records = await log.read(stream, partition, next, SLICE);
    if (records.length === 0) return;
    next = records[records.length - 1].offset + 1;
    for (const record of records) if (record.offset < endOffset) yield record;
  }
}

async function* readCheckpoints(
  { checkpoints, signal }: ExportRun,
  counts: Counts,
): AsyncGenerator<RunFileRow> {
  if (checkpoints === undefined) return;
  for await (const { sha256, bytes } of checkpoints) {
    signal?.throwIfAborted();
    counts.numCheckpointFiles++;
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      yield notAnEvent(CHECKPOINT_KIND, {
        id: sha256,
        seq: at,
        record: bytes.subarray(at, at + CHUNK_BYTES),
      });
    }
  }
}

function notAnEvent(kind: string, fields: Partial<RunFileRow> & Pick<RunFileRow, 'record'>): RunFileRow {
  return { stream: '', episodeId: '', seq: 0, kind, schemaVersion: 0, id: '', occurredAtUs: 0, ...fields };
}
