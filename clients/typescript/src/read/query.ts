import type { Table } from 'apache-arrow';
import type { ApiConnection } from '../wire/api-connection.js';
import { RetraceError } from '../wire/retrace-error.js';
import type { JsonObject, JsonValue } from '../wire/records.js';
import type { ReadOptions } from './read-options.js';

export interface QueryOptions extends ReadOptions {
  /** Row limit (default: 1,000). More rows than that are an error of `query`; `rows` leaves them out. */
  readonly maxRows?: number;
  /** Reads what was known then: a time, the id of an event, or `RUN@N` for the commit of update N of a run (default: now). */
  readonly asOf?: string | Date;
}

interface JsonRows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly JsonValue[])[];
}

const ARROW = 'application/vnd.apache.arrow.stream';

/** @throws RetraceError `REFUSED` with the store's own words; `UNSUPPORTED` when `apache-arrow` is not installed */
export async function queryArrow(
  connection: ApiConnection,
  sql: string,
  options: QueryOptions,
): Promise<Table> {
  const { tableFromIPC } = await importArrow();
  const { maxRows = 1_000 } = options;
  // One row more shows whether there are more.
  const limited = { ...options, maxRows: maxRows + 1 };
  const table = tableFromIPC(
    await postSql(connection, sql, limited, ARROW, (answer) => answer.arrayBuffer()),
  );
  if (table.numRows <= maxRows) return table;
  throw new RetraceError('REFUSED', `The result has more than ${maxRows} rows: raise maxRows, or read less`);
}

/** @throws RetraceError `REFUSED` with the store's own words */
export async function queryRows(
  connection: ApiConnection,
  sql: string,
  options: QueryOptions,
): Promise<readonly JsonObject[]> {
  const { columns, rows } = await postSql(connection, sql, options, 'application/json', async (response) => {
    return (await response.json()) as JsonRows;
  });
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
}

function postSql<Answer>(
  connection: ApiConnection,
  query: string,
  { maxRows, asOf, signal }: QueryOptions,
  accept: string,
  read: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const request = {
    body: JSON.stringify({ query, maxRows }),
    headers: { 'content-type': 'application/json', accept },
    ...(signal && { signal }),
  };
  const moment = asOf instanceof Date ? asOf.toISOString() : asOf;
  const path =
    moment === undefined ? '/api/sql' : `/api/sql?${new URLSearchParams({ asOf: moment }).toString()}`;
  return connection.request('POST', path, request, read);
}

async function importArrow(): Promise<typeof import('apache-arrow')> {
  try {
    return await import('apache-arrow');
  } catch (cause) {
    throw new RetraceError(
      'UNSUPPORTED',
      'query() needs the package apache-arrow: npm install apache-arrow',
      {
        cause,
      },
    );
  }
}
