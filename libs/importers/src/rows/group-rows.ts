import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'node:crypto';
import { isBroken, openRows, type Row, writeJson } from '@retrace/rows';

/** A row and the file that it came from. */
export interface PlacedRow extends Row {
  readonly file: string;
}

/** Rows with the same key, in the order in which they were read. */
export interface RowGroup {
  readonly key: string;
  readonly rows: readonly PlacedRow[];
}

/** Rows of this many bytes are grouped at a time; more are first divided by the hash of their key into files. */
export const MAX_GROUPED_BYTES = 24 * 1024 * 1024;
const MAX_BUCKETS = 512;

/**
 * Groups rows by a key, such as the trace of a span, wherever in the dump they are. Memory is bounded: a dump of more than
 * `MAX_GROUPED_BYTES` is divided into temporary files so that all rows of a key are in the same one, which are grouped one by one.
 *
 * @param keyOf null = the row belongs to no group and is left out
 * @param numBytes size of the rows, about
 */
export async function* groupRows(
  rows: AsyncIterable<PlacedRow>,
  keyOf: (value: unknown) => string | null,
  numBytes: number,
): AsyncGenerator<RowGroup> {
  const numBuckets = Math.min(MAX_BUCKETS, Math.ceil(numBytes / MAX_GROUPED_BYTES));
  if (numBuckets <= 1) {
    yield* listGroups(await collect(rows, keyOf));
    return;
  }
  const directory = await mkdtemp(join(tmpdir(), 'retrace-import-'));
  try {
    await divide(rows, keyOf, directory, numBuckets);
    for (let bucket = 0; bucket < numBuckets; bucket++) {
      yield* listGroups(await collect(readBucket(join(directory, `${bucket}.jsonl`)), keyOf));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

type Groups = Map<string, PlacedRow[]>;

async function collect(
  rows: AsyncIterable<PlacedRow>,
  keyOf: (value: unknown) => string | null,
): Promise<Groups> {
  const groups: Groups = new Map();
  for await (const row of rows) {
    const key = keyOf(row.value);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function* listGroups(groups: Groups): Generator<RowGroup> {
  for (const [key, rows] of groups) {
    groups.delete(key);
    yield { key, rows };
  }
}

async function divide(
  rows: AsyncIterable<PlacedRow>,
  keyOf: (value: unknown) => string | null,
  directory: string,
  numBuckets: number,
): Promise<void> {
  const files = Array.from({ length: numBuckets }, (_, bucket) =>
    createWriteStream(join(directory, `${bucket}.jsonl`)),
  );
  try {
    for await (const row of rows) {
      const key = keyOf(row.value);
      if (key === null) continue;
      const bucket = Number.parseInt(hash('sha256', key, 'hex').slice(0, 8), 16) % numBuckets;
      await write(files[bucket], `${writeJson(row)}\n`);
    }
  } finally {
    await Promise.all(files.map((file) => new Promise<void>((resolve) => file.end(resolve))));
  }
}

function write(file: WriteStream, text: string): Promise<void> | undefined {
  if (file.write(text)) return undefined;
  return new Promise((resolve, reject) => {
    file.once('drain', resolve);
    file.once('error', reject);
  });
}

async function* readBucket(path: string): AsyncGenerator<PlacedRow> {
  for await (const read of openRows(path, 'lines', null)) {
    if (!isBroken(read)) yield read.value as PlacedRow;
  }
}
