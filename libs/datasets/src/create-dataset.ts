import { MAX_ROW_BYTES, writeJson } from '@retrace/rows';
import type { StoreClient } from '@retrace/store';
import {
  checkContamination,
  type ContaminationReport,
  isContaminated,
  type RowIdentity,
} from './contamination/contamination.js';
import type { DatasetDirectory } from './dataset-directory.js';
import { DatasetError } from './dataset-error.js';
import { DatasetWriter } from './dataset-writer.js';
import { datasetCard } from './files/dataset-card.js';
import type { DatasetFormat, RowPlan } from './formats/dataset-format.js';
import { DATASET_FORMATS } from './formats/formats.js';
import type { DatasetManifest } from './manifest.js';
import { readEpisodes } from './read-episodes.js';
import { requireUnregistered } from './register-dataset.js';
import { readSelection, type SelectionRow } from './selection/read-selection.js';
import { selectEpisodes } from './selection/select-episodes.js';
import type { SelectedEpisode } from './selection/selected-episode.js';
import { taskKey } from './selection/splits.js';
import { SkipCounts } from './skip-counts.js';
import type { StoredEpisode } from './stored-episode.js';

export interface CreateDatasetOptions extends Pick<
  DatasetManifest,
  | 'name'
  | 'format'
  | 'fileFormat'
  | 'sql'
  | 'score'
  | 'splitShares'
  | 'seed'
  | 'createdAt'
  | 'codeVersion'
  | 'log'
> {
  readonly client: StoreClient;
  readonly directory: DatasetDirectory;
  /** The result of `sql`. */
  readonly rows: AsyncIterable<SelectionRow>;
  /** Whether of rows with equal conversations only the first is kept. */
  readonly dropDuplicates: boolean;
  /** Whether a contaminated data set is refused. */
  readonly requireClean: boolean;
  /** Words of an n-gram of the contamination check. */
  readonly nGramWords: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly numRows: number; readonly numPlanned: number }) => void;
}

/** Why a row is left out that no importer, ours included, would read. */
const TOO_LARGE = `a row would be longer than ${MAX_ROW_BYTES / 1024 ** 2} MiB, which "retrace import" does not read`;

/** Rows that are read from the store together. */
const ROWS_PER_READ = 500;

/**
 * Makes a named, immutable data set of the episodes or steps that a query chose: files for each split, the lineage of each row, and a
 * manifest. The same selection of the same store gives the same content hash.
 *
 * @throws DatasetError `DATASET_EXISTS`, `OPTION_INVALID`, `SELECTION_INVALID`, `NO_ROWS`, `CONTAMINATED`; StoreError
 */
export async function createDataset(options: CreateDatasetOptions): Promise<DatasetManifest> {
  const { client, directory, name, format: formatName } = options;
  await directory.requireFree(name);
  await requireUnregistered(client, name);
  const skipped = new SkipCounts();
  const selections = await readSelection(options.rows);
  const episodes = await selectEpisodes(client, selections, {
    shares: options.splitShares,
    seed: options.seed,
    score: options.score,
    skipped,
  });
  const format: DatasetFormat = DATASET_FORMATS[formatName];
  const plans = format.plan(episodes, skipped);
  const draft = await directory.begin();
  try {
    const written = await writeRows(draft, { ...options, format, plans, skipped });
    const manifest = makeManifest(options, { episodes, skipped, ...written });
    if (options.requireClean && isContaminated(manifest.contamination)) throw contaminated(manifest);
    await directory.publish(draft, manifest, datasetCard(manifest));
    return manifest;
  } catch (error) {
    await directory.discard(draft);
    throw error;
  }
}

interface RowsToWrite extends Pick<
  CreateDatasetOptions,
  'client' | 'dropDuplicates' | 'fileFormat' | 'nGramWords' | 'signal' | 'onProgress'
> {
  readonly format: DatasetFormat;
  readonly plans: readonly RowPlan[];
  readonly skipped: SkipCounts;
}

async function writeRows(draft: string, request: RowsToWrite) {
  const { format, plans, signal, onProgress } = request;
  const writer = await DatasetWriter.create(draft, request);
  try {
    for (let from = 0; from < plans.length; from += ROWS_PER_READ) {
      signal?.throwIfAborted();
      await writeSlice(writer, plans.slice(from, from + ROWS_PER_READ), request);
      onProgress?.({ numRows: Math.min(from + ROWS_PER_READ, plans.length), numPlanned: plans.length });
    }
    const { identities } = writer;
    if (identities.size === 0) throw noRows(request.skipped);
    let contamination: ContaminationReport = { nGramWords: request.nGramWords, splits: [] };
    const ended = await writer.finish(request.fileFormat, format.columns, async () => {
      contamination = await checkContamination(
        identities,
        (split) => writer.rowsOf(split),
        request.nGramWords,
      );
    });
    return { ...ended, contamination, numDuplicates: writer.numDuplicates };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function writeSlice(
  writer: DatasetWriter,
  plans: readonly RowPlan[],
  { client, format, skipped }: RowsToWrite,
): Promise<void> {
  const facts = new Map(
    plans.flatMap(({ members }) =>
      members.map(({ episode }) => [episode.facts.episodeId, episode.facts] as const),
    ),
  );
  const stored = await readEpisodes(client, [...facts.values()], format);
  for (const plan of plans) {
    const episodes = plan.members.flatMap(({ episode }) => stored.get(episode.facts.episodeId) ?? []);
    const built = format.build(plan, episodes);
    if (built.kind === 'skipped') {
      skipped.skip(built.reason);
      continue;
    }
    const identity = makeIdentity(plan, episodes);
    for (const row of built.rows) {
      const line = writeJson(row);
      if (Buffer.byteLength(line) > MAX_ROW_BYTES) skipped.skip(TOO_LARGE);
      else await writer.write(plan, { row, line }, identity);
    }
  }
}

function makeIdentity({ members }: RowPlan, episodes: readonly StoredEpisode[]): RowIdentity {
  const steps = episodes.flatMap((episode, m) => {
    const { step } = members[m];
    return step === null ? episode.steps : episode.steps.slice(step, step + 1);
  });
  return {
    tasks: [...new Set(episodes.map(taskKey))],
    anchors: [...new Set(steps.flatMap(({ anchor }) => (anchor === null ? [] : [anchor])))],
  };
}

function noRows(skipped: SkipCounts): DatasetError {
  const reasons = skipped.list().map(({ reason, count }) => `${count} × ${reason}`);
  const why = reasons.length === 0 ? 'the query chose no episode' : reasons.join('; ');
  return new DatasetError('NO_ROWS', `The data set would have no row: ${why}`);
}

function contaminated({ name, contamination }: DatasetManifest): DatasetError {
  const found = contamination.splits.map(
    (split) =>
      `${split.split} shares with ${split.comparedWith} ${split.numRowsWithSharedTask} tasks, ` +
      `${split.numRowsWithSharedAnchor} states and ${split.numRowsWithSharedNGram} rows by n-grams`,
  );
  return new DatasetError('CONTAMINATED', `Data set "${name}" was not made: ${found.join('; ')}`);
}

function makeManifest(
  options: CreateDatasetOptions,
  {
    episodes,
    skipped,
    ...written
  }: {
    readonly episodes: readonly SelectedEpisode[];
    readonly skipped: SkipCounts;
  } & Pick<DatasetManifest, 'splits' | 'contentHash' | 'contamination' | 'numDuplicates'>,
): DatasetManifest {
  const { name, format, fileFormat, sql, score, splitShares, seed, createdAt, codeVersion, log } = options;
  return {
    name,
    format,
    fileFormat,
    sql,
    score,
    splitShares,
    seed,
    createdAt,
    codeVersion,
    log,
    runIds: [...new Set(episodes.map(({ facts }) => facts.runId))].sort(),
    numEpisodes: episodes.length,
    skipped: skipped.list(),
    droppedDuplicates: options.dropDuplicates,
    ...written,
  };
}
