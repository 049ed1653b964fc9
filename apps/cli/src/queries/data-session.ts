import type { EventLog } from '@retrace/log';
import type { DataDirectory } from '@retrace/process';
import type { DataSession } from '@retrace/runs/begin';
import type { StoreClient } from '@retrace/store';
import { readUserRows } from './read-user-rows.js';

interface OpenStore {
  readonly client: StoreClient;
  readonly log: EventLog;
  readonly directory: DataDirectory;
  readonly storeUrl: string;
}

/** Gives a run the stored episodes of a log and its store, whose sink is another process. */
export async function openDataSessionOn({ client, log, ...address }: OpenStore): Promise<DataSession> {
  const { untilVisible } = await import('@retrace/store');
  return {
    client,
    log,
    catchUp: () => untilVisible(log, client),
    readUserRows: (sql) => readUserRows(address, sql),
  };
}
