import { createReadStream } from 'node:fs';
import { type RecordBatch, RecordBatchReader, type ArrowSchema } from '../arrow/apache-arrow.js';
import { TrajectoryError } from '@retrace/trajectory';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { RunFileError } from './run-file-error.js';
import {
  digestOfEnd,
  END_KIND,
  METADATA,
  RowDigest,
  RUN_FILE_FORMAT,
  RUN_FILE_VERSION,
  type RunFileEnd,
  type RunFileRow,
} from './run-file-format.js';

/**
 * Reads a run file row by row, with one batch in memory. Rows are given before the whole file has been checked, so read it to its end once
 * before using any of it.
 */
export class RunFileReader {
  /** The content of the last row; null until the file was read to its end and found undamaged. */
  end: RunFileEnd | null = null;

  private constructor(
    readonly path: string,
    readonly runId: string,
    private readonly batches: AsyncIterable<RecordBatch>,
  ) {}

  /** @throws RunFileError `RUN_FILE_UNKNOWN`, `RUN_FILE_VERSION`; what the file system throws */
  static async open(path: string): Promise<RunFileReader> {
    const source = createReadStream(path, { highWaterMark: 1024 * 1024 });
    try {
      // A file that can't be opened fails here with the file system's error, which Arrow would hide.
      await new Promise((resolve, reject) => {
        source.once('open', resolve).once('error', reject);
      });
      const reader = await RecordBatchReader.from(source);
      await reader.open();
      return new RunFileReader(path, readRunId(reader.schema, path), reader);
    } catch (error) {
      source.destroy();
      if (error instanceof TrajectoryError || isFileSystemError(error)) throw error;
      throw new RunFileError('RUN_FILE_UNKNOWN', `${path} is not a Retrace run file`, {
        cause: error,
      });
    }
  }

  /**
   * Reads every row except the last, in order.
   *
   * @throws RunFileError `RUN_FILE_DAMAGED` when the file turns out to be cut off or changed
   */
  async *rows(): AsyncGenerator<RunFileRow> {
    const digest = new RowDigest();
    let last: RunFileRow | null = null;
    for await (const row of this.rowsOfBatches()) {
      if (last !== null) throw this.damaged('rows follow its last row');
      if (row.kind === END_KIND) last = row;
      else {
        digest.add(row);
        yield row;
      }
    }
    if (last === null) throw this.damaged('it is cut off: its last row is missing');
    this.end = this.readEnd(last, digest.finish());
  }

  private readEnd(row: RunFileRow, sha256: string): RunFileEnd {
    if (digestOfEnd(row) !== row.id) throw this.damaged('its last row does not match its digest');
    const end = JSON.parse(Buffer.from(row.record).toString('utf8')) as RunFileEnd;
    if (end.sha256 !== sha256) {
      throw this.damaged(`the SHA-256 of its rows is ${sha256}; its last row says ${end.sha256}`);
    }
    if (end.runId !== this.runId) {
      throw this.damaged(`its schema says run ${this.runId}; its last row says ${end.runId}`);
    }
    return end;
  }

  private async *rowsOfBatches(): AsyncGenerator<RunFileRow> {
    try {
      for await (const batch of this.batches) yield* decodeRows(batch);
    } catch (error) {
      if (isFileSystemError(error)) throw error;
      throw this.damaged(describeError(error));
    }
  }

  private damaged(what: string): RunFileError {
    return new RunFileError('RUN_FILE_DAMAGED', `Run file ${this.path} is damaged: ${what}`);
  }
}

function readRunId(schema: ArrowSchema, path: string): string {
  const metadata = (key: string): string => schema.metadata.get(key) ?? '';
  if (metadata(METADATA.format) !== RUN_FILE_FORMAT) {
    throw new RunFileError(
      'RUN_FILE_UNKNOWN',
      `${path} is not a Retrace run file: it is an Arrow stream without a run`,
    );
  }
  const version = metadata(METADATA.version);
  if (version !== String(RUN_FILE_VERSION)) {
    const rule = `this version of Retrace reads only format version ${RUN_FILE_VERSION}`;
    throw new RunFileError('RUN_FILE_VERSION', `Run file ${path} has format version ${version}; ${rule}`);
  }
  return metadata(METADATA.runId);
}

function decodeRows(batch: RecordBatch): RunFileRow[] {
  const columns = new ArrowColumns([batch]);
  const streams = columns.texts('stream');
  const episodeIds = columns.texts('episode_id');
  const seqs = columns.numbers('seq');
  const kinds = columns.texts('kind');
  const schemaVersions = columns.numbers('schema_version');
  const ids = columns.texts('id');
  const occurredAt = columns.numbers('occurred_at');
  const records = columns.bytes('record');
  return records.map((record, at) => ({
    stream: streams[at],
    episodeId: episodeIds[at],
    seq: seqs[at],
    kind: kinds[at],
    schemaVersion: schemaVersions[at],
    id: ids[at],
    occurredAtUs: occurredAt[at],
    record,
  }));
}

function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
