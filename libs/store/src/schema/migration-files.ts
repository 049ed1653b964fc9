import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../client/store-error.js';
import { sqlTokens } from '../user-sql/sql-tokens.js';

export interface MigrationStatement {
  readonly sql: string;
  /** SHA-256, hex, of its text in the file. */
  readonly checksum: string;
}

/** A file `NNNN_name.sql`. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly MigrationStatement[];
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/**
 * Reads the migrations of a directory, in order.
 *
 * @throws StoreError `MIGRATION_INVALID` when numbers are not 1, 2, 3 …, or a file has another name or no statement
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, i) => {
      const number = Number(FILE_NAME.exec(name)?.[1]);
      if (number !== i + 1) {
        const due = `${i + 1}`.padStart(4, '0');
        const rule = `must be NNNN_name.sql, numbered 1, 2, 3 …; the next number is ${due}`;
        throw new StoreError('MIGRATION_INVALID', `Migration file is ${name}; ${rule}`);
      }
      const statements = splitStatements(await readFile(join(directory, name), 'utf8'));
      if (statements.length === 0) {
        throw new StoreError(
          'MIGRATION_INVALID',
          `Migration ${name} has no statement; it must have at least one`,
        );
      }
      return { number, name, statements };
    }),
  );
}

/** Splits a file at its semicolons, except those inside strings, quoted names and comments. */
export function splitStatements(text: string): MigrationStatement[] {
  const statements: MigrationStatement[] = [];
  let start = 0;
  let isEmpty = true;
  const endAt = (end: number): void => {
    const sql = text.slice(start, end).trim();
    if (!isEmpty) statements.push({ sql, checksum: hash('sha256', sql, 'hex') });
    isEmpty = true;
  };
  for (const token of sqlTokens(text)) {
    if (token.kind === 'symbol' && token.text === ';') {
      endAt(token.start);
      start = token.end;
    } else isEmpty = false;
  }
  endAt(text.length);
  return statements;
}
