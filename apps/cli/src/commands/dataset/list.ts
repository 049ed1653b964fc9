import { join } from 'node:path';
import { DatasetDirectory } from '@retrace/datasets';
import { dataDirectoryAt } from '../../data-directory/environment.js';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

interface ListOptions extends CommonOptions {
  readonly episode?: string;
}

/** Prints the data sets of a data directory, or those that an episode is in. */
export async function list({ dataDir, json, episode }: ListOptions): Promise<void> {
  const directory = new DatasetDirectory(join(dataDirectoryAt(dataDir).root, 'datasets'));
  const manifests = episode === undefined ? await directory.list() : await directory.listWithEpisode(episode);
  if (json === true) {
    console.log(JSON.stringify(manifests));
    return;
  }
  const columns = ['name', 'format', 'files', 'rows', 'episodes', 'content hash', 'made at'];
  const rows = manifests.map(({ name, format, fileFormat, splits, numEpisodes, contentHash, createdAt }) => [
    name,
    format,
    fileFormat,
    splits.reduce((sum, { numRows }) => sum + numRows, 0),
    numEpisodes,
    contentHash.slice(0, 12),
    createdAt,
  ]);
  console.log(renderTable(columns, rows));
}
