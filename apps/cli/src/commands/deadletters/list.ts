import { listDeadLetters } from '@retrace/store';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { renderRecords } from '../../terminal/table.js';
import { makeFilter, type FilterOptions } from './filter.js';

interface ListOptions extends CommonOptions, FilterOptions {
  readonly limit: number;
}

/** Prints dead letters in log order. */
export async function list(options: ListOptions): Promise<void> {
  const entries = await withStore(options, async ({ client, log }) =>
    listDeadLetters(client, { ...(await makeFilter(log, options)), limit: options.limit }),
  );
  if (options.json === true) console.log(JSON.stringify(entries, null, 2));
  else console.log(entries.length === 0 ? 'no dead letters' : renderRecords(entries));
}
