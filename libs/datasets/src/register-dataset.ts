import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import type { Json } from '@retrace/trajectory';
import { appendDataset, type DatasetRecord } from './append-dataset.js';
import type { DatasetDirectory } from './dataset-directory.js';
import { DatasetError } from './dataset-error.js';
import type { DatasetManifest } from './manifest.js';

export interface RegisterDatasetOptions {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly directory: DatasetDirectory;
  readonly name: string;
  /** Brings the store to where the log is. */
  readonly bringUpToDate: () => Promise<void>;
}

/**
 * Tells the log of a data set whose directory is complete, so that API and page list it. A data set that the log has is left as it is, so
 * calling this again completes a registration that was cut short.
 *
 * @returns whether the log had it before
 * @throws DatasetError `DATASET_UNKNOWN`; `DATASET_CONFLICT` when the log has another content under the name; StoreError, LogError
 */
export async function registerDataset(options: RegisterDatasetOptions): Promise<boolean> {
  const { log, client, directory, name, bringUpToDate } = options;
  const manifest = await directory.read(name);
  await bringUpToDate();
  const known = await readContentHash(client, name);
  if (known === null) {
    await appendDataset(log, await toRecord(options, manifest));
    await bringUpToDate();
  }
  // Another process may have been first.
  const stored = known ?? (await readContentHash(client, name));
  if (stored !== manifest.contentHash) throw conflict(manifest, stored);
  return known !== null;
}

/**
 * Checks that the log has no data set of this name.
 *
 * @throws DatasetError `DATASET_EXISTS`
 */
export async function requireUnregistered(client: StoreClient, name: string): Promise<void> {
  const hash = await readContentHash(client, name);
  if (hash === null) return;
  throw new DatasetError(
    'DATASET_EXISTS',
    `Data set "${name}" was made before, with content hash ${hash}; data sets never change, so choose another name`,
  );
}

/** The content hash of a data set in the log; null where the log has none of that name. */
export async function readContentHash(client: StoreClient, name: string): Promise<string | null> {
  const rows = await client.queryRows<{ readonly hash: string }>(
    'SELECT content_hash AS hash FROM datasets WHERE name = {name:String}',
    { params: { name } },
  );
  return rows.length === 0 ? null : rows[0].hash;
}

function conflict({ name, contentHash }: DatasetManifest, stored: string | null): DatasetError {
  return new DatasetError(
    'DATASET_CONFLICT',
    `Data set "${name}" has content hash ${contentHash}, but the log has that name with ${stored}; ` +
      'data sets never change, so make it again under another name',
  );
}

/** The record of a data set with files. */
async function toRecord(
  { directory }: RegisterDatasetOptions,
  manifest: DatasetManifest,
): Promise<DatasetRecord> {
  const { name, contentHash, format, fileFormat, sql, splits, codeVersion, contamination } = manifest;
  const { score, seed, splitShares, skipped, numDuplicates, droppedDuplicates } = manifest;
  return {
    name,
    format,
    fileFormat,
    sql,
    contentHash,
    splits,
    contamination: contamination as unknown as Json,
    settings: { score, seed, splitShares, skipped, numDuplicates, droppedDuplicates } as unknown as Json,
    location: directory.pathOf(name),
    codeVersion,
    createdAtMs: Date.parse(manifest.createdAt),
    episodesByRun: await episodesByRun(directory, name),
  };
}

async function episodesByRun(directory: DatasetDirectory, name: string): Promise<Map<string, Set<string>>> {
  const byRun = new Map<string, Set<string>>();
  for await (const { runId, episodeId } of directory.readMembers(name)) {
    const ids = byRun.get(runId) ?? new Set();
    byRun.set(runId, ids.add(episodeId));
  }
  return byRun;
}
