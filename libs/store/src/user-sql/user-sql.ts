import { WithNames, FIRST_KEYWORDS } from './with-names.js';
import { SqlTokenError, sqlTokens, type SqlToken } from './sql-tokens.js';
import { notAllowed, UserSqlError } from './user-sql-error.js';
import { isAllowedFunction, isHigherOrderFunction } from './user-sql-functions.js';

export { UserSqlError, type UserSqlErrorCode } from './user-sql-error.js';

export interface UserSqlPolicy {
  /** What may be read: `table` of the database the SQL runs in or `*` for all of them, `database.table` or `database.*`. */
  readonly tables: readonly string[];
  /** Whether `{name:Type}` may stand for a value that is sent beside the SQL (default no; `{name:Identifier}` never). */
  readonly allowParameters?: boolean;
  /** The answer of the engine to `EXPLAIN AST` of the SQL, one node a line; it rejects where the engine's parser does. */
  readonly explainAst: (sql: string) => Promise<string>;
}

const MAX_LENGTH = 65_536;

/** Kinds of nodes whose children tell everything about them. `Set` (SETTINGS) and `ColumnsApplyTransformer`, which hides its function, are not. */
const ALLOWED_NODES: ReadonlySet<string> = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'Function',
  'Identifier',
  'InterpolateElement',
  'Literal',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableExpression',
  'TableIdentifier',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
]);

const IN_FUNCTIONS = /^(?:global)?(?:not)?(?:null)?in$/i;

/**
 * Lets one SELECT through that reads nothing but the allowed tables, with nothing but the allowed functions.
 *
 * First lexically, before anything reaches the engine, since an engine runs what follows a `;`. Then by the engine's own parser,
 * which doesn't evaluate anything. What passes must still run as a read-only user with limits ({@link limitRows} bounds the rows).
 *
 * @returns the statement without what surrounds it (comments, `;`)
 * @throws UserSqlError USER_SQL_SYNTAX or USER_SQL_NOT_ALLOWED; whatever `explainAst` rejects with
 */
export async function checkUserSql(sql: string, policy: UserSqlPolicy): Promise<string> {
  const tokens = readTokens(sql, policy.allowParameters ?? false);
  const statement = sql.slice(tokens[0].start, tokens[tokens.length - 1].end);
  const withNames = new WithNames(tokens);
  for (const node of parseAst(await policy.explainAst(statement))) checkNode(node, policy.tables, withNames);
  return statement;
}

/** The statement, cut off after `maxRows` rows of its result. */
export function limitRows(statement: string, maxRows: number): string {
  return `SELECT * FROM (\n${statement}\n) LIMIT ${maxRows}`;
}

function readTokens(sql: string, allowParameters: boolean): readonly SqlToken[] {
  if (sql.length > MAX_LENGTH)
    throw notAllowed(`SQL of ${sql.length} characters is longer than ${MAX_LENGTH}, which is the maximum`);
  let tokens: SqlToken[];
  try {
    tokens = [...sqlTokens(sql)];
  } catch (error) {
    if (error instanceof SqlTokenError)
      throw new UserSqlError('USER_SQL_SYNTAX', error.message, { cause: error });
    throw error;
  }
  while (tokens.at(-1)?.text === ';') tokens.pop();
  if (tokens.length === 0) throw new UserSqlError('USER_SQL_SYNTAX', 'there is no SQL');
  if (!FIRST_KEYWORDS.has(tokens[0].upper)) throw notAllowed(`only SELECT is allowed, not ${tokens[0].text}`);
  tokens.forEach((token, i) => {
    checkToken(token, tokens[i + 1]);
    if (token.text === '{') checkParameter(tokens.slice(i + 1, i + 4), allowParameters);
  });
  return tokens;
}

function checkToken(token: SqlToken, next: SqlToken | undefined): void {
  if (token.text === ';') throw notAllowed('only one statement is allowed');
  if (token.kind === 'symbol' && /[\\?@]/.test(token.text))
    throw notAllowed(`the character ${token.text} is not allowed`);
  // The lines of EXPLAIN AST hold names as they are: a name with a line break would forge a line.
  if (token.kind === 'quotedIdentifier' && /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(token.text)) {
    throw notAllowed('a quoted name can not contain a backslash or a control character');
  }
  if (token.upper === 'INTO' && next?.upper === 'OUTFILE') throw notAllowed('INTO OUTFILE is not allowed');
  if (token.upper === 'WITH' && next?.upper === 'RECURSIVE')
    throw notAllowed('WITH RECURSIVE is not allowed');
}

/** @param next what follows the brace: the name, a colon, the type */
function checkParameter(next: readonly SqlToken[], allowParameters: boolean): void {
  const [name, colon, type] = next;
  if (
    !allowParameters ||
    name?.kind !== 'word' ||
    colon?.text !== ':' ||
    type?.kind !== 'word' ||
    type.upper === 'IDENTIFIER'
  ) {
    throw notAllowed(
      `parameters in braces are not allowed${allowParameters ? ' but for {name:Type} of a value' : ''}`,
    );
  }
}

interface AstNode {
  readonly type: string;
  /** What stands behind the type: a name, a value, an alias, the number of children. */
  readonly text: string;
  readonly parent: AstNode | null;
  /** Position among the parent's children, or among the roots. */
  readonly position: number;
  numChildren: number;
}

/** Reads the indented lines of EXPLAIN AST, parents before their children. */
function parseAst(ast: string): readonly AstNode[] {
  const nodes: AstNode[] = [];
  const open: AstNode[] = [];
  let numRoots = 0;
  for (const line of ast.split('\n')) {
    if (line.trim() === '') continue;
    const fields = /^( *)([A-Za-z:]+)(?: (.*))?$/.exec(line);
    const depth = fields?.[1].length ?? Infinity;
    if (fields === null || depth > open.length)
      throw notAllowed('the engine parsed the SQL into something unknown');
    open.length = depth;
    const parent = open.at(-1) ?? null;
    const position = parent === null ? numRoots++ : parent.numChildren++;
    const node: AstNode = { type: fields[2], text: fields[3] ?? '', parent, position, numChildren: 0 };
    open.push(node);
    nodes.push(node);
  }
  if (nodes.length === 0) throw notAllowed('the engine parsed the SQL into nothing');
  return nodes;
}

function checkNode(node: AstNode, tables: readonly string[], withNames: WithNames): void {
  if (node.parent === null && (node.type !== 'SelectWithUnionQuery' || node.position > 0))
    throw notAllowed('only one SELECT is allowed');
  switch (node.type) {
    case 'Function':
      return checkFunction(nameOf(node), node.parent?.type === 'TableExpression');
    case 'TableIdentifier':
      return checkTable(nameOf(node), tables, withNames);
    case 'Identifier':
      return checkIdentifier(node, tables, withNames);
    case 'SelectWithUnionQuery':
      if (node.numChildren !== 1) throw notAllowed('FORMAT and INTO OUTFILE are not allowed');
      return;
    case 'Set':
      throw notAllowed('SETTINGS is not allowed');
    case 'ColumnsApplyTransformer':
      throw notAllowed('APPLY is not allowed; name the columns');
    default:
      if (!ALLOWED_NODES.has(node.type)) throw notAllowed(`${node.type} is not allowed`);
  }
}

function checkFunction(name: string, isTable: boolean): void {
  if (isTable) throw notAllowed(`the table function ${name} is not allowed`);
  if (!isAllowedFunction(name)) throw notAllowed(`the function ${name} is not allowed`);
}

function checkTable(name: string, tables: readonly string[], withNames: WithNames): void {
  const dot = name.indexOf('.');
  if (tables.includes(name) || tables.includes(dot < 0 ? '*' : `${name.slice(0, dot)}.*`)) return;
  if (withNames.has(name)) return withNames.checkScope(name);
  throw notAllowed(`the table ${name} is not allowed`);
}

/** An identifier is a column, but for two places: `x IN name` may name a table, and a lambda's place may name a function. */
function checkIdentifier(node: AstNode, tables: readonly string[], withNames: WithNames): void {
  const call =
    node.parent?.type === 'ExpressionList' && node.parent.parent?.type === 'Function'
      ? node.parent.parent
      : null;
  if (call === null || node.parent?.position !== 0) return;
  const name = nameOf(node);
  if (node.position > 0 && IN_FUNCTIONS.test(nameOf(call))) checkTable(name, tables, withNames);
  if (
    node.position === 0 &&
    node.parent.numChildren > 1 &&
    isHigherOrderFunction(nameOf(call)) &&
    !isAllowedFunction(name)
  ) {
    throw notAllowed(`${nameOf(call)}(${name}, …) is not allowed; write a lambda, such as x -> f(x)`);
  }
}

/** The name behind a node's type, without its alias and the number of its children. */
function nameOf(node: AstNode): string {
  return node.text.replace(/ \((?:alias |children \d+\)).*$/, '');
}
