import { checkUserSql, isAsOf, sqlTokens, USER_SQL_LIMITS, UserSqlError } from '@retrace/store/user-sql';
import { ClickHouseException } from '../statement/clickhouse-exception.js';
import type { Statement } from '../statement/statement.js';

/** The start of a statement that is parsed and not run. */
export const EXPLAIN_AST = /^EXPLAIN\s+AST\b/i;

/** The start of a statement that asks for the plan of a SELECT, or for the rows that it will read. The engine computes subqueries for either. */
const EXPLAIN_SELECT =
  /^EXPLAIN\s+(?:ESTIMATE\b|(?:PLAN\b\s*)?(?:(?:actions|description|header|indexes|json|projections)\s*=\s*[01]\b\s*,?\s*)*)/i;

const LIMITS: ReadonlyMap<string, number> = new Map(Object.entries(USER_SQL_LIMITS));

const FIXED_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['read_overflow_mode', 'throw'],
  ['result_overflow_mode', 'throw'],
  ['timeout_overflow_mode', 'throw'],
];

/**
 * Settings that a request of a read-only user may change: the form of the result, but nothing about the engine's work (except how it inserts,
 * which the JDBC driver sets with every statement, and which has no effect on a SELECT). They are listed by family, because other output
 * settings name files of this machine (`output_format_schema` writes one, `format_template_row` shows one).
 */
const ALLOWED_SETTINGS =
  /^(?:output_format_(?:arrow|csv|decimal|json|native|parquet|pretty|tsv|values|xml)_\w+|date_time_output_format|session_timezone|extremes|log_comment|(?:wait_for_)?async_insert)$/;

/** With it a statement reads what was known at a time; another value may hold any SQL, which nobody has checked. */
const FILTERS = 'additional_table_filters';

/** Tables that tools read to list tables, columns and formats. */
const CATALOGUE_TABLES = [
  'columns',
  'data_type_families',
  'databases',
  'formats',
  'functions',
  'one',
  'settings',
  'table_engines',
  'tables',
];

const READABLE_TABLES: readonly string[] = [
  '*',
  'default.*',
  'information_schema.*',
  'INFORMATION_SCHEMA.*',
  ...CATALOGUE_TABLES.map((name) => `system.${name}`),
];

/**
 * Returns the settings for a read-only user's statement.
 *
 * @throws ClickHouseException READONLY for a setting that the user must not change
 */
export function readonlySettings(requested: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const settings = new Map<string, string>(FIXED_SETTINGS);
  for (const [name, limit] of LIMITS) settings.set(name, String(limit));
  for (const [name, value] of requested) {
    const limit = LIMITS.get(name);
    if (limit !== undefined) {
      const number = Number(value);
      // 0 means no limit.
      if (number > 0 && number < limit) settings.set(name, String(number));
    } else if (ALLOWED_SETTINGS.test(name) || (name === FILTERS && isAsOf(value))) settings.set(name, value);
    else throw ClickHouseException.of('READONLY', `Cannot modify '${name}' setting in readonly mode`);
  }
  return settings;
}

/** First words of ClickHouse's other statements: whoever writes one of them wants to change something, and others have mistyped. */
const STATEMENT_KEYWORDS: ReadonlySet<string> = new Set([
  ...['ALTER', 'ATTACH', 'BACKUP', 'BEGIN', 'CHECK', 'COMMIT', 'COPY', 'CREATE', 'DELETE', 'DETACH', 'DROP'],
  ...['EXCHANGE', 'EXECUTE', 'EXPLAIN', 'GRANT', 'INSERT', 'KILL', 'MOVE', 'OPTIMIZE', 'PARALLEL', 'RENAME'],
  ...[
    'REPLACE',
    'RESTORE',
    'REVOKE',
    'ROLLBACK',
    'SET',
    'SYSTEM',
    'TRUNCATE',
    'UNDROP',
    'UNFREEZE',
    'UPDATE',
  ],
  ...['USE', 'WATCH'],
]);

/**
 * Accepts a read-only user's statement: SELECT by the rules of user SQL over Retrace's tables and the catalogue, EXPLAIN of such a SELECT, SHOW,
 * DESCRIBE and EXISTS of plain names, and EXPLAIN AST. The engine's own `readonly` and grants do not suffice: the scalar
 * function `file` reads any file under both.
 *
 * @throws ClickHouseException ACCESS_DENIED, READONLY or SYNTAX_ERROR
 */
export async function checkReadonlyStatement(
  statement: Statement,
  explainAst: (sql: string) => Promise<string>,
): Promise<void> {
  if (statement.kind === 'insert') throw readonlyMode('INSERT');
  if (statement.kind === 'command') {
    if (EXPLAIN_AST.test(statement.text)) return;
    const [explain] = EXPLAIN_SELECT.exec(statement.text) ?? [];
    if (explain !== undefined) return checkSelect(statement.text.slice(explain.length), explainAst);
    throw STATEMENT_KEYWORDS.has(statement.keyword)
      ? readonlyMode(statement.keyword)
      : noStatement(statement.keyword);
  }
  if (statement.tail.trim() !== '')
    throw ClickHouseException.of('READONLY', 'SETTINGS is not allowed in readonly mode');
  const [first] = sqlTokens(statement.body);
  if (['SHOW', 'DESCRIBE', 'DESC', 'EXISTS'].includes(first.upper)) {
    for (const { text } of sqlTokens(statement.body)) {
      if (text === '(')
        throw ClickHouseException.of(
          'ACCESS_DENIED',
          `${first.upper} with an expression is not allowed in readonly mode`,
        );
    }
    return;
  }
  return checkSelect(statement.body, explainAst);
}

async function checkSelect(sql: string, explainAst: (sql: string) => Promise<string>): Promise<void> {
  try {
    await checkUserSql(sql, { tables: READABLE_TABLES, allowParameters: true, explainAst });
  } catch (error) {
    if (!(error instanceof UserSqlError)) throw error;
    throw ClickHouseException.of(
      error.code === 'USER_SQL_SYNTAX' ? 'SYNTAX_ERROR' : 'ACCESS_DENIED',
      error.message,
      { cause: error },
    );
  }
}

function noStatement(keyword: string): ClickHouseException {
  return ClickHouseException.of(
    'SYNTAX_ERROR',
    `Syntax error: no statement begins with ${keyword}; a query begins with SELECT, WITH, SHOW, DESCRIBE, EXISTS or EXPLAIN`,
  );
}

function readonlyMode(keyword: string): ClickHouseException {
  return ClickHouseException.of('READONLY', `Cannot execute query in readonly mode: ${keyword}`);
}
