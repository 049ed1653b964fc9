import { sqlTokens } from '@retrace/store/user-sql';
import type { Engine } from '../engine/engine.js';
import { quoteString } from '../statement/sql-literals.js';

/** The tables of the store as they are now, for another engine to read. */
export interface StoreSnapshot {
  /** Makes the tables over the files of the store, and the views. */
  readonly definitions: readonly string[];
  /** Disks of the tables, on each of which one table has its parts. */
  readonly disks: readonly string[];
  /** The parts that hold the rows, as `table/part`, sorted. */
  readonly parts: readonly string[];
}

const TABLES = `
  SELECT name, data_paths[1], create_table_query
  FROM system.tables
  WHERE database = 'default' AND (engine LIKE '%MergeTree' OR engine = 'View') AND NOT is_temporary
  ORDER BY engine = 'View', name`;

const PARTS =
  "SELECT concat(table, '/', name), path FROM system.parts WHERE database = 'default' AND active ORDER BY 1";

export async function readStoreSnapshot(engine: Engine): Promise<StoreSnapshot> {
  // Tables first: one that is made between the two is left out with its parts.
  const tables = await engine.query(TABLES);
  const parts = await readParts(engine);
  return {
    definitions: tables.map(([name, path, sql]) =>
      path === '' ? sql : overFiles(sql, makeDisk(name), path),
    ),
    disks: tables.flatMap(([name, path]) => (path === '' ? [] : [makeDisk(name)])),
    parts: parts.map(({ name }) => name),
  };
}

/** The active parts of an engine, sorted by their names. */
export async function readParts(
  engine: Engine,
): Promise<readonly { readonly name: string; readonly path: string }[]> {
  return (await engine.query(PARTS)).map(([name, path]) => ({ name, path }));
}

function makeDisk(table: string): string {
  return `store_${Buffer.from(table).toString('hex')}`;
}

/**
 * Rewrites `CREATE TABLE … ENGINE = …MergeTree … [SETTINGS …]` so that the table is read from files that another engine writes. The kind of
 * disk that can be read-only, and then starts neither merges nor clean-ups, is an object storage; its plain form names files as they are.
 */
function overFiles(sql: string, disk: string, path: string): string {
  const settings = [
    `disk = disk(name = ${quoteString(disk)}, readonly = true, type = object_storage, object_storage_type = local, metadata_type = plain, path = ${quoteString(path)})`,
    'table_disk = true',
  ].join(', ');
  let depth = 0;
  for (const { text, upper, end } of sqlTokens(sql)) {
    if (text === '(') depth++;
    if (text === ')') depth--;
    if (depth === 0 && upper === 'SETTINGS') return `${sql.slice(0, end)} ${settings},${sql.slice(end)}`;
  }
  return `${sql} SETTINGS ${settings}`;
}
