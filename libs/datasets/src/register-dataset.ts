import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { newControlEvent, type Json, type RetraceEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
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

/** About 200 kB of an event. */
const EPISODES_PER_EVENT = 5_000;
/** Bounds the bytes of an append. */
const EVENTS_PER_APPEND = 16;

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
    await append(log, await eventsOf(options, manifest));
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

async function readContentHash(client: StoreClient, name: string): Promise<string | null> {
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

type DatasetEvent = RetraceEvent<'DatasetEpisodesListed'> | RetraceEvent<'DatasetCreated'>;

/** The lists of episodes, and then the event that makes them count. */
async function eventsOf(
  { log, directory }: RegisterDatasetOptions,
  manifest: DatasetManifest,
): Promise<DatasetEvent[]> {
  const { name, contentHash } = manifest;
  const common = { logId: log.logId, runId: '', occurredAtUs: Date.parse(manifest.createdAt) * 1000 };
  const byRun = await episodesByRun(directory, name);
  const lists = [...byRun].flatMap(([ofRunId, ids]) =>
    slicesOf([...ids]).map((episodeIds) =>
      newControlEvent({
        ...common,
        kind: 'DatasetEpisodesListed',
        payload: { name, contentHash, ofRunId, episodeIds },
      }),
    ),
  );
  const runs = [...byRun].map(([runId, ids]) => ({ runId, numEpisodes: ids.size }));
  const { format, fileFormat, sql, splits, codeVersion, contamination } = manifest;
  const { score, seed, splitShares, skipped, numDuplicates, droppedDuplicates } = manifest;
  const created = newControlEvent({
    ...common,
    kind: 'DatasetCreated',
    payload: {
      name,
      format,
      fileFormat,
      sql,
      contentHash,
      splits,
      numEpisodes: runs.reduce((sum, { numEpisodes }) => sum + numEpisodes, 0),
      runs,
      contamination: contamination as unknown as Json,
      settings: { score, seed, splitShares, skipped, numDuplicates, droppedDuplicates } as unknown as Json,
      location: directory.pathOf(name),
      codeVersion,
    },
  });
  return [...lists, created];
}

async function episodesByRun(directory: DatasetDirectory, name: string): Promise<Map<string, Set<string>>> {
  const byRun = new Map<string, Set<string>>();
  for await (const { runId, episodeId } of directory.readMembers(name)) {
    const ids = byRun.get(runId) ?? new Set();
    byRun.set(runId, ids.add(episodeId));
  }
  return byRun;
}

function slicesOf(ids: readonly string[]): string[][] {
  const slices: string[][] = [];
  for (let from = 0; from < ids.length; from += EPISODES_PER_EVENT)
    slices.push(ids.slice(from, from + EPISODES_PER_EVENT));
  return slices;
}

async function append(log: EventLog, events: readonly DatasetEvent[]): Promise<void> {
  const records = events.map(encodeEvent);
  for (let from = 0; from < records.length; from += EVENTS_PER_APPEND)
    await log.append('control', 0, records.slice(from, from + EVENTS_PER_APPEND));
}
