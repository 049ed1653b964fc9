import { join } from 'node:path';
import { DatasetDirectory, registerDataset } from '@retrace/datasets';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';

/**
 * Tells the log of a data set whose files are in the data directory.
 *
 * @throws DatasetError `DATASET_UNKNOWN`, `DATASET_DAMAGED`, `DATASET_CONFLICT`
 */
export async function register(name: string, { dataDir, json }: CommonOptions): Promise<void> {
  const wasKnown = await withStore({ dataDir }, async (session) => {
    const directory = new DatasetDirectory(join(session.directory.root, 'datasets'));
    await directory.verify(name);
    return registerDataset({ ...session, directory, name, bringUpToDate: () => session.catchUp() });
  });
  if (json === true) console.log(JSON.stringify({ name, wasKnown }));
  else console.log(`data set ${name}: ${wasKnown ? 'was listed before' : 'is listed now'}`);
}
