import { checkNode } from './check-syntax-tree.js';
import { readTokens } from './check-tokens.js';
import { readSyntaxTree } from './syntax-tree.js';
import { WithNames } from './with-names.js';

export interface UserSqlPolicy {
  /** Readable tables: `table` of the database the SQL runs in or `*` for all of them, `database.table` or `database.*`. */
  readonly tables: readonly string[];
  /** Whether `{name:Type}` may stand for a value that is sent beside the SQL (default no; `{name:Identifier}` never). */
  readonly allowParameters?: boolean;
  /** Asks the engine for `EXPLAIN AST` of the SQL, one node a line; rejects where the engine's parser does. */
  readonly explainAst: (sql: string) => Promise<string>;
}

/**
 * Accepts one SELECT that reads only the allowed tables and calls only the allowed functions.
 *
 * The tokens are checked before anything reaches the engine, since an engine runs what follows a `;`. Then the syntax tree
 * of the engine's own parser is checked, which evaluates nothing. An accepted statement must still run as a read-only user
 * with limits ({@link limitRows} bounds the rows).
 *
 * @returns the statement without surrounding comments and `;`
 * @throws UserSqlError USER_SQL_SYNTAX or USER_SQL_NOT_ALLOWED; whatever `explainAst` rejects with
 */
export async function checkUserSql(sql: string, policy: UserSqlPolicy): Promise<string> {
  const tokens = readTokens(sql, { allowParameters: policy.allowParameters ?? false });
  const statement = sql.slice(tokens[0].start, tokens[tokens.length - 1].end);
  const withNames = new WithNames(tokens);
  for (const node of readSyntaxTree(await policy.explainAst(statement)))
    checkNode(node, policy.tables, withNames);
  return statement;
}

/** The statement, cut off after `maxRows` rows of its result. */
export function limitRows(statement: string, maxRows: number): string {
  return `SELECT * FROM (\n${statement}\n) LIMIT ${maxRows}`;
}
