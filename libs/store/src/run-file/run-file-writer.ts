import { open, rename, rm } from 'node:fs/promises';
import {
  Binary,
  type Data,
  Field,
  Float64,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Uint16,
  Utf8,
} from '../arrow/apache-arrow.js';
import { type ColumnBuilder, newData } from '../arrow/column-builder.js';
import { MicrosecondColumn, NumberColumn } from '../arrow/fixed-width-columns.js';
import { BytesColumn } from '../arrow/ragged-columns.js';
import { METADATA, RUN_FILE_FORMAT, RUN_FILE_VERSION, type RunFileRow } from './run-file-format.js';

const MAX_BATCH_ROWS = 4_096;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** The end mark of an Arrow stream. */
const END_OF_STREAM = Buffer.from('ffffffff00000000', 'hex');

/**
 * Writes rows as they come, a few MiB at a time, to a temporary file that is renamed to `path` once all are on disk. A failure leaves no
 * file.
 */
export async function writeRunFile(
  path: string,
  runId: string,
  rows: AsyncIterable<RunFileRow> | Iterable<RunFileRow>,
): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  try {
    const file = await open(partial, 'w');
    try {
      const schemaMessage = encodeMessages(toBatch([], runId));
      await file.appendFile(schemaMessage);
      for await (const batch of splitBatches(rows, runId)) {
        await file.appendFile(encodeMessages(batch).subarray(schemaMessage.length));
      }
      await file.appendFile(END_OF_STREAM);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Encodes a batch as an Arrow stream without its end mark: the message of the schema, then those of the batch. */
function encodeMessages(batch: RecordBatch): Uint8Array {
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, batch.schema);
  if (batch.numRows > 0) writer.write(batch);
  writer.finish();
  return writer.toUint8Array(true).subarray(0, -END_OF_STREAM.length);
}

async function* splitBatches(
  rows: AsyncIterable<RunFileRow> | Iterable<RunFileRow>,
  runId: string,
): AsyncGenerator<RecordBatch> {
  let batch: RunFileRow[] = [];
  let sizeBytes = 0;
  for await (const row of rows) {
    batch.push(row);
    sizeBytes += row.record.length;
    if (batch.length < MAX_BATCH_ROWS && sizeBytes < MAX_BATCH_BYTES) continue;
    yield toBatch(batch, runId);
    batch = [];
    sizeBytes = 0;
  }
  if (batch.length > 0) yield toBatch(batch, runId);
}

function toBatch(rows: readonly RunFileRow[], runId: string): RecordBatch {
  const length = rows.length;
  const text = () => new BytesColumn(new Utf8());
  const columns = {
    stream: text(),
    episode_id: text(),
    seq: new NumberColumn(new Float64(), Float64Array),
    kind: text(),
    schema_version: new NumberColumn(new Uint16(), Uint16Array),
    id: text(),
    occurred_at: new MicrosecondColumn(),
    record: new BytesColumn(new Binary()),
  };
  rows.forEach((row, at) => {
    columns.stream.set(at, row.stream);
    columns.episode_id.set(at, row.episodeId);
    columns.seq.set(at, row.seq);
    columns.kind.set(at, row.kind);
    columns.schema_version.set(at, row.schemaVersion);
    columns.id.set(at, row.id);
    columns.occurred_at.set(at, row.occurredAtUs);
    columns.record.set(at, row.record);
  });
  const children = Object.values<ColumnBuilder>(columns).map((builder) => builder.finish(length));
  const fields = Object.keys(columns).map((name, i) => new Field(name, children[i].type, false));
  const metadata = new Map<string, string>([
    [METADATA.format, RUN_FILE_FORMAT],
    [METADATA.version, String(RUN_FILE_VERSION)],
    [METADATA.runId, runId],
  ]);
  const struct = newData(new Struct(fields), { length, nullCount: 0, children }) as Data<Struct>;
  return new RecordBatch(new Schema(fields, metadata), struct);
}
