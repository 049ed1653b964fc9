import { checkNamingArgument, readsArgumentAsName } from './check-arguments.js';
import { didYouMean, didYouMeanFunction } from './did-you-mean.js';
import { readName, type SyntaxNode } from './syntax-tree.js';
import { notAllowed } from './user-sql-error.js';
import { isAllowedFunction, isHigherOrderFunction } from './user-sql-functions.js';
import type { WithNames } from './with-names.js';

/** Kinds of nodes whose children show all that they do; `ColumnsApplyTransformer` hides its function. */
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

/** @throws UserSqlError USER_SQL_NOT_ALLOWED for a table, function or clause that user SQL may not name */
export function checkNode(node: SyntaxNode, tables: readonly string[], withNames: WithNames): void {
  if (node.parent === null && (node.type !== 'SelectWithUnionQuery' || node.position > 0))
    throw notAllowed('Only one SELECT is allowed');
  const call = calledWith(node);
  if (call !== null) checkNamingArgument(call, node);
  switch (node.type) {
    case 'Function':
      return checkFunction(readName(node), node.parent?.type === 'TableExpression');
    case 'TableIdentifier':
      return checkTable(readName(node), tables, withNames);
    case 'Identifier':
      return checkIdentifier(node, call, tables, withNames);
    case 'SelectWithUnionQuery':
      if (node.numChildren !== 1) throw notAllowed('FORMAT and INTO OUTFILE are not allowed');
      return;
    case 'Set':
      throw notAllowed('SETTINGS is not allowed');
    case 'ColumnsApplyTransformer':
      throw notAllowed('APPLY is not allowed; name the columns');
    default:
      if (!ALLOWED_NODES.has(node.type)) throw notAllowed(`The SQL element ${node.type} is not allowed`);
  }
}

function checkFunction(name: string, isTable: boolean): void {
  if (isTable) throw notAllowed(`The table function "${name}" is not allowed; read one of the tables`);
  if (!isAllowedFunction(name))
    throw notAllowed(`The function "${name}" is not allowed${didYouMeanFunction(name)}`);
}

function checkTable(name: string, tables: readonly string[], withNames: WithNames): void {
  const dot = name.indexOf('.');
  if (tables.includes(name) || tables.includes(dot < 0 ? '*' : `${name.slice(0, dot)}.*`)) return;
  if (withNames.has(name)) return withNames.checkScope(name);
  throw notAllowed(unreadableTable(name, tables));
}

/** Whether the table exists is not known here: a near name suggests a typing mistake. */
function unreadableTable(name: string, tables: readonly string[]): string {
  const named = tables.filter((table) => !table.endsWith('*') && !table.startsWith('system.'));
  const hint = didYouMean(name, named);
  if (hint !== '') return `Unknown table "${name}"${hint}`;
  const readable = named.length === 0 ? '' : `; readable tables: ${named.join(', ')}`;
  return `The table "${name}" can not be read${readable}`;
}

/** The call whose argument the node is; null for any other node. */
function calledWith(node: SyntaxNode): SyntaxNode | null {
  const list = node.parent;
  // A second list holds the parameters of an aggregate function.
  const isArgument = list?.type === 'ExpressionList' && list.position === 0;
  return isArgument && list.parent?.type === 'Function' ? list.parent : null;
}

/** An identifier names a column, except that `x IN name` may name a table, and the place of a lambda may name a function. */
function checkIdentifier(
  node: SyntaxNode,
  call: SyntaxNode | null,
  tables: readonly string[],
  withNames: WithNames,
): void {
  if (call === null) return;
  const name = readName(node);
  if (node.position > 0 && IN_FUNCTIONS.test(readName(call))) checkTable(name, tables, withNames);
  if (
    node.position === 0 &&
    (node.parent?.numChildren ?? 0) > 1 &&
    isHigherOrderFunction(readName(call)) &&
    (!isAllowedFunction(name) || readsArgumentAsName(name))
  ) {
    throw notAllowed(`${readName(call)}(${name}, …) is not allowed; write a lambda, such as x -> f(x)`);
  }
}
