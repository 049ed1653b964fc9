import { createHash, type Hash } from 'node:crypto';
import { type EventLog, choosePartition } from '@retrace/log';
import { type AnyEvent, isEpisodeEventKind } from '@retrace/trajectory';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { RunFileError } from './run-file-error.js';
import { CHECKPOINT_KIND, type RunFileEnd, type RunFileRow } from './run-file-format.js';
import { RunFileReader } from './run-file-reader.js';

export interface ImportRun {
  readonly log: EventLog;
  readonly path: string;
  /** Stores a checkpoint file; resolves when it is durable. */
  readonly writeCheckpoint: (bytes: Uint8Array) => Promise<unknown>;
  readonly signal?: AbortSignal;
}

const APPEND_RECORDS = 4_096;
const APPEND_BYTES = 4 * 1024 * 1024;

/**
 * Reads the whole file and decodes every event in it, and changes nothing.
 *
 * @throws RunFileError `RUN_FILE_UNKNOWN`, `RUN_FILE_DAMAGED`, `RUN_FILE_VERSION`; what the file system throws
 */
export async function checkRunFile(path: string, signal?: AbortSignal): Promise<RunFileEnd> {
  const reader = await RunFileReader.open(path);
  const files = new CheckpointHashes(path);
  let numEvents = 0;
  let hasStart = false;
  for await (const row of reader.rows()) {
    signal?.throwIfAborted();
    if (row.kind === CHECKPOINT_KIND) {
      files.add(row);
      continue;
    }
    const event = readEvent(row, reader);
    numEvents++;
    hasStart ||= event.kind === 'RunStarted';
  }
  files.finish();
  const { end } = reader;
  if (end === null || !hasStart || end.numEvents !== numEvents || end.numCheckpointFiles !== files.numFiles) {
    const found = `${numEvents} events ${hasStart ? 'with' : 'without'} a start, ${files.numFiles} checkpoint files`;
    throw new RunFileError(
      'RUN_FILE_DAMAGED',
      `Run file ${path} is damaged: it holds ${found}, and its last row gives other numbers`,
    );
  }
  return end;
}

/**
 * Appends the run of a file that `checkRunFile` accepted to the log, which must not have it. First come checkpoint files, then the events
 * of episodes, and last the control events in one append, which makes the run appear. Holds in memory a slice of the file, the run's
 * control events and one checkpoint file.
 *
 * @throws RunFileError, LogError, what `writeCheckpoint` throws; what was appended by then belongs to no run
 */
export async function importRun({ log, path, writeCheckpoint, signal }: ImportRun): Promise<void> {
  const reader = await RunFileReader.open(path);
  const control: Uint8Array[] = [];
  const episodes = new EpisodeAppends(log);
  let file: Uint8Array[] = [];
  let fileId = '';
  const finishFile = async (): Promise<void> => {
    if (file.length > 0) await writeCheckpoint(Buffer.concat(file));
    file = [];
  };
  for await (const row of reader.rows()) {
    signal?.throwIfAborted();
    if (row.kind === CHECKPOINT_KIND) {
      if (row.id !== fileId) await finishFile();
      fileId = row.id;
      file.push(row.record);
      continue;
    }
    const event = { ...readEvent(row, reader), logId: log.logId };
    if (isEpisodeEventKind(event.kind)) await episodes.add(event);
    else control.push(encodeEvent(event));
  }
  await finishFile();
  await episodes.flush();
  signal?.throwIfAborted();
  await log.append('control', 0, control);
}

function readEvent({ record, kind }: RunFileRow, { path, runId }: RunFileReader): AnyEvent {
  const decoded = decodeEvent(record);
  if (!decoded.ok) {
    const isNewer = decoded.code === 'UNKNOWN_KIND' || decoded.code === 'UNKNOWN_VERSION';
    const message = `Run file ${path} holds a ${kind} that can't be read: ${decoded.reason}`;
    throw new RunFileError(isNewer ? 'RUN_FILE_VERSION' : 'RUN_FILE_DAMAGED', message);
  }
  if (decoded.event.runId !== runId) {
    const message = `Run file ${path} is damaged: it is of run ${runId} and holds a ${kind} of run "${decoded.event.runId}"`;
    throw new RunFileError('RUN_FILE_DAMAGED', message);
  }
  return decoded.event;
}

/** Collects episode events into appends, each to its episode's partition and in order. */
class EpisodeAppends {
  private readonly waiting = new Map<number, { records: Uint8Array[]; sizeBytes: number }>();

  constructor(private readonly log: EventLog) {}

  async add(event: AnyEvent): Promise<void> {
    const partition = choosePartition(event.runId, event.episodeId, this.log.numPartitions('trajectories'));
    const batch = this.waiting.get(partition) ?? { records: [], sizeBytes: 0 };
    this.waiting.set(partition, batch);
    const record = encodeEvent(event);
    batch.records.push(record);
    batch.sizeBytes += record.length;
    if (batch.records.length >= APPEND_RECORDS || batch.sizeBytes >= APPEND_BYTES)
      await this.append(partition);
  }

  async flush(): Promise<void> {
    for (const partition of this.waiting.keys()) await this.append(partition);
  }

  private async append(partition: number): Promise<void> {
    const records = this.waiting.get(partition)?.records ?? [];
    this.waiting.delete(partition);
    if (records.length > 0) await this.log.append('trajectories', partition, records);
  }
}

/** Checks that the chunks of every checkpoint file follow each other and give the file's hash. */
class CheckpointHashes {
  numFiles = 0;
  private current: { readonly id: string; readonly hash: Hash; sizeBytes: number } | null = null;

  constructor(private readonly path: string) {}

  add({ id, seq, record }: RunFileRow): void {
    if (this.current?.id !== id) {
      this.finish();
      this.current = { id, hash: createHash('sha256'), sizeBytes: 0 };
      this.numFiles++;
    }
    if (seq !== this.current.sizeBytes) {
      const what = `the bytes of checkpoint file ${id} continue at ${seq}; must continue at ${this.current.sizeBytes}`;
      throw new RunFileError('RUN_FILE_DAMAGED', `Run file ${this.path} is damaged: ${what}`);
    }
    this.current.hash.update(record);
    this.current.sizeBytes += record.length;
  }

  finish(): void {
    const { current } = this;
    this.current = null;
    if (current === null) return;
    const sha256 = current.hash.digest('hex');
    if (sha256 === current.id) return;
    const what = `checkpoint file ${current.id} has SHA-256 ${sha256}`;
    throw new RunFileError('RUN_FILE_DAMAGED', `Run file ${this.path} is damaged: ${what}`);
  }
}
