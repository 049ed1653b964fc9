import { Injectable } from '@nestjs/common';
import type { Json } from '@retrace/trajectory';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { ProblemError } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type {
  DatasetContamination,
  DatasetDetail,
  DatasetEpisode,
  DatasetListItem,
  DatasetRun,
  DatasetSplit,
} from './datasets.dto.js';

const COLUMNS = 'name, format, file_format, content_hash, num_episodes, num_rows, created_at';

const LIST_DATASETS = `
  SELECT ${COLUMNS}, toUnixTimestamp64Micro(created_at) AS created_at_us
  FROM datasets
  WHERE (created_at_us, name) < ({beforeUs:Int64}, {beforeName:String})
  ORDER BY created_at_us DESC, name DESC
  LIMIT {limit:UInt32}`;

const GET_DATASET = `
  SELECT ${COLUMNS}, sql, splits, runs, contamination, settings, location, code_version
  FROM datasets
  WHERE name = {name:String}`;

const GET_RUN_NAMES = 'SELECT run_id, name FROM runs WHERE run_id IN {runIds:Array(String)}';

const LIST_EPISODES = `
  SELECT run_id, episode_id
  FROM dataset_episodes
  WHERE dataset = {name:String} AND (run_id, episode_id) > ({afterRun:String}, {afterEpisode:String})
  ORDER BY run_id, episode_id
  LIMIT {limit:UInt32}`;

interface DatasetRow extends DatasetListItem {
  readonly createdAtUs: number;
}

/** A row whose lists are JSON text. */
type DetailRow = DatasetListItem &
  Readonly<
    Record<'sql' | 'splits' | 'runs' | 'contamination' | 'settings' | 'location' | 'codeVersion', string>
  >;

@Injectable()
export class DatasetsService {
  constructor(private readonly store: StoreService) {}

  async list({ limit, cursor }: PageQuery): Promise<Page<DatasetListItem>> {
    const [beforeUs, beforeName] = cursor
      ? decodeCursor(cursor, ['number', 'string'])
      : [Number.MAX_SAFE_INTEGER, ''];
    const params = { beforeUs, beforeName, limit: limit + 1 };
    const rows = await this.store.queryRows<DatasetRow>(LIST_DATASETS, params);
    return makePage(rows, limit, {
      toItem: ({ createdAtUs: _, ...row }) => ({ ...row, createdAt: isoTime(row.createdAt) }),
      keyOf: (row) => [row.createdAtUs, row.name],
    });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(name: string): Promise<DatasetDetail> {
    const [row] = await this.store.queryRows<DetailRow | undefined>(GET_DATASET, { name });
    if (row === undefined) throw new ProblemError('NOT_FOUND', `Data set "${name}" not found`);
    const runs = JSON.parse(row.runs) as Omit<DatasetRun, 'name'>[];
    const named = await this.store.queryRows<Pick<DatasetRun, 'runId' | 'name'>>(GET_RUN_NAMES, {
      runIds: runs.map(({ runId }) => runId),
    });
    const names = new Map(named.map((run) => [run.runId, run.name]));
    return {
      ...row,
      createdAt: isoTime(row.createdAt),
      splits: JSON.parse(row.splits) as DatasetSplit[],
      runs: runs.map((run) => ({ ...run, name: names.get(run.runId) ?? '' })),
      contamination: JSON.parse(row.contamination) as DatasetContamination,
      settings: JSON.parse(row.settings) as Json,
    };
  }

  /** @throws ProblemError `NOT_FOUND` */
  async listEpisodes(name: string, { limit, cursor }: PageQuery): Promise<Page<DatasetEpisode>> {
    const [afterRun, afterEpisode] = cursor ? decodeCursor(cursor, ['string', 'string']) : ['', ''];
    const params = { name, afterRun, afterEpisode, limit: limit + 1 };
    const rows = await this.store.queryRows<DatasetEpisode>(LIST_EPISODES, params);
    // A data set has rows, and rows have episodes.
    if (rows.length === 0 && !cursor) throw new ProblemError('NOT_FOUND', `Data set "${name}" not found`);
    return makePage(rows, limit, { toItem: (row) => row, keyOf: (row) => [row.runId, row.episodeId] });
  }
}
