import { createHash } from 'node:crypto';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import { appendDataset } from '../append-dataset.js';
import { DatasetError } from '../dataset-error.js';
import type { EpisodeKey } from '../read-episodes.js';
import { readContentHash } from '../register-dataset.js';
import { readSelection, type SelectionRow } from '../selection/read-selection.js';
import { SkipCounts } from '../skip-counts.js';
import { countEndedMembers, readChosenEpisodes, type ChosenEpisode } from './chosen-episodes.js';
import { requireTrainable, type TrainingRules } from './training-rules.js';
import { keepUsable } from './whole-groups.js';

export interface CreateTrainingSetOptions {
  readonly log: EventLog;
  readonly client: StoreClient;
  /** Brings the store to where the log is. */
  readonly bringUpToDate: () => Promise<void>;
  /** The query that chose, recorded with the data set; its result is `rows`. */
  readonly sql: string;
  readonly rows: AsyncIterable<SelectionRow>;
  readonly rules: TrainingRules;
  readonly codeVersion: string;
}

/** A list of episodes to train on that never changes: a data set in the log, without files. */
export interface TrainingSet {
  /** Name of the data set, which follows from its content. */
  readonly dataset: string;
  readonly contentHash: string;
  readonly numEpisodes: number;
  readonly numGroups: number;
  /** Counts of episodes and groups that were left out, by reason. */
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

/**
 * Checks the chosen episodes, and records them as a data set of format `episodes`. The same choice of the same store gives the same data set.
 *
 * @throws DatasetError `SELECTION_INVALID`, `NOT_TRAINABLE`, `NO_ROWS`; StoreError, LogError
 */
export async function createTrainingSet(options: CreateTrainingSetOptions): Promise<TrainingSet> {
  const { log, client, bringUpToDate, sql, codeVersion } = options;
  const { episodes, skipped } = await chooseEpisodes(options);
  const contentHash = hashEpisodes(episodes);
  const dataset = `episodes-${contentHash.slice(0, 16)}`;
  if ((await readContentHash(client, dataset)) === null) {
    await appendDataset(log, {
      name: dataset,
      format: 'episodes',
      fileFormat: 'jsonl',
      sql,
      contentHash,
      splits: [],
      contamination: null,
      settings: { skipped },
      location: '',
      codeVersion,
      createdAtMs: Date.now(),
      episodesByRun: byRun(episodes),
    });
    await bringUpToDate();
  }
  return { dataset, contentHash, skipped, numEpisodes: episodes.length, numGroups: countGroups(episodes) };
}

/** Checks the episodes of a data set that the log has; it may have been made for another purpose. */
export async function checkTrainingSet(
  { client, rules }: Pick<CreateTrainingSetOptions, 'client' | 'rules'>,
  name: string,
): Promise<TrainingSet> {
  const contentHash = await readContentHash(client, name);
  if (contentHash === null) throw new DatasetError('DATASET_UNKNOWN', `Data set "${name}" is not in the log`);
  const sql = 'SELECT run_id, episode_id FROM dataset_episodes WHERE dataset = {name:String}';
  const rows = await client.queryRows<SelectionRow>(sql, { params: { name } });
  const { episodes, skipped } = await chooseEpisodes({ client, rules, rows: iterate(rows) });
  if (skipped.length > 0) {
    const reasons = skipped.map(({ reason, count }) => `${count} × ${reason}`).join('; ');
    throw new DatasetError(
      'NOT_TRAINABLE',
      `Data set "${name}" has episodes or groups that no update can be trained on, and data sets never change: ${reasons}`,
    );
  }
  return {
    dataset: name,
    contentHash,
    skipped,
    numEpisodes: episodes.length,
    numGroups: countGroups(episodes),
  };
}

async function chooseEpisodes({
  client,
  rows,
  rules,
}: Pick<CreateTrainingSetOptions, 'client' | 'rows' | 'rules'>): Promise<{
  readonly episodes: readonly ChosenEpisode[];
  readonly skipped: TrainingSet['skipped'];
}> {
  const skipped = new SkipCounts();
  const { comparesGroups } = rules;
  const chosen = await readChosenEpisodes(client, await readSelection(rows));
  const endedMembers = comparesGroups === null ? null : await countEndedMembers(client, chosen);
  const episodes = keepUsable(chosen, { comparesGroups, endedMembers, skipped });
  if (episodes.length === 0) {
    const reasons = skipped.list().map(({ reason, count }) => `${count} × ${reason}`);
    throw new DatasetError(
      'NO_ROWS',
      `There is nothing to train on: ${reasons.length === 0 ? 'the query chose no episode' : reasons.join('; ')}`,
    );
  }
  await requireTrainable(client, episodes, rules);
  return { episodes, skipped: skipped.list() };
}

/** Of the list, whatever the order in which the query named the episodes. */
function hashEpisodes(episodes: readonly EpisodeKey[]): string {
  const lines = episodes.map(({ runId, episodeId }) => `${runId} ${episodeId}\n`).sort();
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  return digest.digest('hex');
}

function byRun(episodes: readonly EpisodeKey[]): Map<string, Set<string>> {
  const runs = new Map<string, Set<string>>();
  for (const { runId, episodeId } of episodes) {
    const ids = runs.get(runId) ?? new Set();
    runs.set(runId, ids.add(episodeId));
  }
  return runs;
}

function countGroups(episodes: readonly ChosenEpisode[]): number {
  return new Set(episodes.map(({ runId, groupId }) => `${runId} ${groupId}`)).size;
}

async function* iterate<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}
