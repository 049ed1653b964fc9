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

/** A file `NNNN_name.sql`: the first makes the tables, later ones change them. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly MigrationStatement[];
  /** Last of the earlier files that this one stands for, which its first line names; null for none. */
  readonly replaces: string | null;
}

/** All views, as the files in `views/` define them now. */
export interface SchemaViews {
  /** Number in `views/version`, raised with each change of a view, so that the newer of two sets is known. */
  readonly version: number;
  /** In the order in which they are made: a view comes after those that it reads. */
  readonly statements: readonly ViewStatement[];
  /** SHA-256, hex, of the statements and of the last migration, since a view holds the columns that a table had when it was made. */
  readonly checksum: string;
}

export interface ViewStatement extends MigrationStatement {
  /** File that has it. */
  readonly name: string;
}

export interface SchemaFiles {
  readonly migrations: readonly Migration[];
  readonly views: SchemaViews;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
const REPLACES = /^-- Replaces migrations up to (\S+\.sql)\.\n/;
const VIEW = 'CREATE OR REPLACE VIEW';
const VERSION_FILE = 'views/version';

/**
 * Reads the migrations of a directory, in order, and its views.
 *
 * @throws StoreError `MIGRATION_INVALID` when numbers are not 1, 2, 3 …, a file has another name or no statement, or `views/` has a statement
 *   that is not `CREATE OR REPLACE VIEW`, or no version
 */
export async function readSchemaFiles(directory: string): Promise<SchemaFiles> {
  const migrations = await readMigrations(directory);
  return { migrations, views: await readViews(directory, migrations.at(-1)?.name ?? '') };
}

async function readViews(directory: string, lastMigration: string): Promise<SchemaViews> {
  const names = (await readdir(directory, { recursive: true })).filter((name) =>
    /^views.\w[\w-]*\.sql$/.test(name),
  );
  const files = names.sort().map(async (name) => {
    const text = await readFile(join(directory, name), 'utf8');
    return splitStatements(text).map((statement) => ({ ...statement, name }));
  });
  const statements = (await Promise.all(files)).flat();
  const other = statements.find(({ sql }) => cutBeginning(sql) !== VIEW);
  if (other !== undefined) {
    const rule = 'must be CREATE OR REPLACE VIEW <name> AS …';
    throw new StoreError(
      'MIGRATION_INVALID',
      `A statement of ${other.name} ${rule}; got ${other.sql.slice(0, 80)}`,
    );
  }
  const checksums = statements.map(({ checksum }) => checksum);
  const checksum = hash('sha256', [...checksums, lastMigration].join('\n'), 'hex');
  return { statements, checksum, version: statements.length === 0 ? 0 : await readVersion(directory) };
}

/** The first words of a statement, after its comments. */
function cutBeginning(sql: string): string {
  return [...sqlTokens(sql)]
    .slice(0, 4)
    .map(({ upper }) => upper)
    .join(' ');
}

async function readVersion(directory: string): Promise<number> {
  const text = await readFile(join(directory, VERSION_FILE), 'utf8').catch(() => '');
  const version = Number(text);
  if (Number.isInteger(version) && version > 0) return version;
  const rule = 'must be a whole number from 1, raised with each change of a view';
  throw new StoreError('MIGRATION_INVALID', `${VERSION_FILE} is ${JSON.stringify(text)}; it ${rule}`);
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, i) => {
      const number = Number(FILE_NAME.exec(name)?.[1]);
      if (number !== i + 1) {
        const due = `${i + 1}`.padStart(4, '0');
        const rule = `must be NNNN_name.sql, numbered 1, 2, 3 …; the next number is ${due}`;
        throw new StoreError('MIGRATION_INVALID', `Migration file is ${name}; ${rule}`);
      }
      const text = await readFile(join(directory, name), 'utf8');
      const statements = splitStatements(text);
      if (statements.length === 0) {
        throw new StoreError(
          'MIGRATION_INVALID',
          `Migration ${name} has no statement; it must have at least one`,
        );
      }
      return { number, name, statements, replaces: REPLACES.exec(text)?.[1] ?? null };
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
