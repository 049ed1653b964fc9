import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { runQuery } from './run-query.js';
import type { StoreSession } from '../services/connection.js';
import { inertCsv } from '../terminal/inert-csv.js';
import { renderTable, type Cell } from '../terminal/table.js';

export type QueryFormat = 'table' | 'json' | 'csv' | 'arrow';

/** The most rows that a table on a terminal shows. */
const MAX_TABLE_ROWS = 1000;

interface CompactResult {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly Cell[])[];
}

interface QueryToPrint {
  readonly sql: string;
  readonly format: QueryFormat;
  /** As `runQuery` takes them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Runs a query and writes its result to stdout: JSON as an array of row objects, Arrow as an IPC stream. */
export async function printQuery(session: StoreSession, { format, ...query }: QueryToPrint): Promise<void> {
  switch (format) {
    case 'csv':
      return writeAll(inertCsv(runQuery(session, { ...query, format: 'CSVWithNames' })));
    case 'arrow':
      return writeAll(runQuery(session, { ...query, format: 'ArrowStream' }));
    case 'json': {
      const { meta, data } = await runCompact(session, query);
      const rows = data.map((row) => Object.fromEntries(meta.map(({ name }, c) => [name, row[c]])));
      console.log(JSON.stringify(rows, null, 2));
      return;
    }
    case 'table': {
      const { meta, data } = await runCompact(session, query);
      const columns = meta.map(({ name }) => name);
      console.log(renderTable(columns, data.slice(0, MAX_TABLE_ROWS)));
      if (data.length > MAX_TABLE_ROWS) {
        console.error(`${data.length} rows, the first ${MAX_TABLE_ROWS} are shown; use --format csv for all`);
      }
    }
  }
}

async function runCompact(
  session: StoreSession,
  query: Omit<QueryToPrint, 'format'>,
): Promise<CompactResult> {
  const body = await text(runQuery(session, { ...query, format: 'JSONCompact' }));
  return JSON.parse(body) as CompactResult;
}

async function writeAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  }
}
