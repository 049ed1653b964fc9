import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { DataDirectory } from '@retrace/process';
import { readPatiently } from './patient-read.js';
import { runQuery } from './run-query.js';

interface ReaderAddress {
  readonly directory: DataDirectory;
  readonly storeUrl: string;
}

/** Reads the whole result of a user's query, as the read-only user has it: it is asked for again where the store stopped meanwhile. */
export function readUserRows<Row>(address: ReaderAddress, sql: string): Promise<Row[]> {
  return readPatiently(() => readOnce(address, sql));
}

async function readOnce<Row>(address: ReaderAddress, sql: string): Promise<Row[]> {
  const rows: Row[] = [];
  const bytes = Readable.from(runQuery(address, { sql, format: 'JSONEachRow' }));
  for await (const line of createInterface({ input: bytes, crlfDelay: Infinity }))
    rows.push(JSON.parse(line) as Row);
  return rows;
}
