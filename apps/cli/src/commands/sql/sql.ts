import { text } from 'node:stream/consumers';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { printQuery, type QueryFormat } from '../../terminal/print-query.js';

interface SqlOptions extends CommonOptions {
  /** Default: a table, or JSON with `--json`. */
  readonly format?: QueryFormat;
}

/** Runs a query, given or read from standard input, and prints its result. */
export async function sql(
  query: string,
  { dataDir, json, format = json === true ? 'json' : 'table' }: SqlOptions,
): Promise<void> {
  const statement = query === '-' ? await text(process.stdin) : query;
  await withStore({ dataDir }, (session) => printQuery(session, statement, format));
}
