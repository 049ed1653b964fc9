import { join } from 'node:path';
import { DatasetDirectory } from '@retrace/datasets';
import { dataDirectoryAt } from '../../data-directory/environment.js';
import type { CommonOptions } from '../../options.js';

/**
 * Checks the files of a data set and says that they are unchanged.
 *
 * @throws DatasetError `DATASET_UNKNOWN`, `DATASET_DAMAGED`
 */
export async function verify(name: string, { dataDir, json }: CommonOptions): Promise<void> {
  const directory = new DatasetDirectory(join(dataDirectoryAt(dataDir).root, 'datasets'));
  const { contentHash, splits } = await directory.verify(name);
  if (json === true) console.log(JSON.stringify({ name, contentHash, intact: true }));
  else console.log(`data set ${name}: ${splits.length} files are as they were made`);
}
