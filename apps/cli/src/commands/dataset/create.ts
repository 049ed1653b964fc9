import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  createDataset,
  DatasetDirectory,
  type DatasetFormatName,
  type DatasetManifest,
  parseSplitShares,
  registerDataset,
  type SelectionRow,
} from '@retrace/datasets';
import type { EventLog } from '@retrace/log';
import { readCodeVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { runQuery } from '../../queries/run-query.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { counted } from '../../terminal/counted.js';

interface CreateOptions extends CommonOptions {
  readonly sql: string;
  readonly format: DatasetFormatName;
  readonly fileFormat: 'jsonl' | 'parquet';
  readonly split?: string;
  readonly seed: number;
  readonly score: string;
  readonly dropDuplicates?: true;
  readonly nGram: number;
  readonly requireClean?: true;
}

/** Makes a data set and prints what came into it, what was left out, and what its splits share. */
export async function create(name: string, options: CreateOptions): Promise<void> {
  const { dataDir, json, split } = options;
  const splitShares = split === undefined ? null : parseSplitShares(split);
  const sql = options.sql === '-' ? await text(process.stdin) : options.sql;
  const { manifest, path } = await withStore({ dataDir }, async (session) => {
    await session.catchUp();
    const directory = new DatasetDirectory(join(session.directory.root, 'datasets'));
    const made = await withInterrupt(async (signal) =>
      createDataset({
        ...options,
        name,
        sql,
        splitShares,
        client: session.client,
        directory,
        rows: readRows(session, sql),
        dropDuplicates: options.dropDuplicates === true,
        requireClean: options.requireClean === true,
        nGramWords: options.nGram,
        createdAt: new Date().toISOString(),
        codeVersion: await readCodeVersion(),
        log: await readPosition(session.log),
        signal,
      }),
    );
    await registerDataset({ ...session, directory, name, bringUpToDate: () => session.catchUp() });
    return { manifest: made, path: directory.pathOf(name) };
  });
  if (json === true) console.log(JSON.stringify({ ...manifest, path }));
  else printManifest(manifest, path);
}

async function* readRows(session: StoreSession, sql: string): AsyncGenerator<SelectionRow> {
  const bytes = Readable.from(runQuery(session, { sql, format: 'JSONEachRow' }));
  for await (const line of createInterface({ input: bytes, crlfDelay: Infinity }))
    yield JSON.parse(line) as SelectionRow;
}

async function readPosition(log: EventLog): Promise<DatasetManifest['log']> {
  const partitions = Array.from({ length: log.numPartitions('trajectories') }, (_, p) => p);
  const endOffsets = await Promise.all(partitions.map((p) => log.endOffset('trajectories', p)));
  return { logId: log.logId, endOffsets };
}

function printManifest(manifest: DatasetManifest, path: string): void {
  const { name, numEpisodes, splits, skipped, numDuplicates, contamination, contentHash } = manifest;
  console.log(
    `data set ${name}: ${counted(numEpisodes, 'episode')}, content hash ${contentHash.slice(0, 12)}`,
  );
  for (const { split, numRows, file } of splits)
    console.log(`  ${split}: ${counted(numRows, 'row')} in ${file}`);
  for (const { reason, count: times } of skipped) console.log(`  left out: ${count(times)} × ${reason}`);
  if (numDuplicates > 0) {
    const what = manifest.droppedDuplicates ? 'dropped' : 'kept (--drop-duplicates drops them)';
    console.log(`  duplicates ${what}: ${count(numDuplicates)}`);
  }
  for (const { split, comparedWith, numRows, ...shared } of contamination.splits) {
    console.log(
      `  of ${counted(numRows, 'row')} in ${split}, ${comparedWith} shares the task of ${count(shared.numRowsWithSharedTask)}, ` +
        `a state of ${count(shared.numRowsWithSharedAnchor)}, ${contamination.nGramWords} words in a row of ${count(shared.numRowsWithSharedNGram)}`,
    );
  }
  console.log(path);
}

const count = (value: number): string => value.toLocaleString('en');
