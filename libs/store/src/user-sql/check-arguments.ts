import { readName, type SyntaxNode } from './syntax-tree.js';
import { notAllowed } from './user-sql-error.js';
import { isAllowedFunction } from './user-sql-functions.js';

/** Place of the argument that names a type, for functions that make values of it; -1 is the last place. */
const TYPE_ARGUMENTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    _cast: 1,
    accuratecast: 1,
    accuratecastordefault: 1,
    accuratecastornull: 1,
    cast: 1,
    jsonextract: -1,
    jsonextractcaseinsensitive: -1,
    jsonextractkeysandvalues: -1,
    jsonextractkeysandvaluescaseinsensitive: -1,
    reinterpret: 1,
  }),
);

/** Functions whose first argument names an aggregate function. */
const CALLERS_BY_NAME: ReadonlySet<string> = new Set([
  'arrayreduce',
  'arrayreduceinranges',
  'initializeaggregation',
]);

/** A type whose values are states of aggregate functions; the engine trusts their bytes, and false ones crash it. */
const STATE_TYPE = /aggregatefunction/i;

/** A quoted name with an escape could spell the name of a type in another way. */
const ESCAPE_IN_QUOTED_NAME = /[`"].*\\/s;

/** Whether the function reads one of its arguments as a name of a type or of a function, which then must be there to be checked. */
export function readsArgumentAsName(functionName: string): boolean {
  const name = functionName.toLowerCase();
  return TYPE_ARGUMENTS.has(name) || CALLERS_BY_NAME.has(name);
}

/**
 * Checks an argument that names a type or an aggregate function.
 *
 * @param call the function whose argument `node` is
 * @throws UserSqlError USER_SQL_NOT_ALLOWED
 */
export function checkNamingArgument(call: SyntaxNode, node: SyntaxNode): void {
  const caller = readName(call).toLowerCase();
  if (CALLERS_BY_NAME.has(caller) && node.position === 0) {
    const called = literalText(call, node);
    if (!isAllowedFunction(/^\w*/.exec(called)?.[0] ?? ''))
      throw notAllowed(`The function "${called}" is not allowed`);
    return;
  }
  const place = TYPE_ARGUMENTS.get(caller);
  if (place === undefined) return;
  const numArguments = node.parent?.numChildren ?? 0;
  if (node.position !== (place < 0 ? numArguments + place : place)) return;
  checkType(literalText(call, node));
}

/** @throws UserSqlError USER_SQL_NOT_ALLOWED for a type that contains states of aggregate functions */
export function checkType(type: string): void {
  if (STATE_TYPE.test(type))
    throw notAllowed('The type AggregateFunction is not allowed; name the type of the values');
  if (ESCAPE_IN_QUOTED_NAME.test(type))
    throw notAllowed('A quoted name in a type can not contain a backslash');
}

/** The text between the quotes of a literal, as EXPLAIN AST escapes it. */
function literalText(call: SyntaxNode, node: SyntaxNode): string {
  const quoted = node.type === 'Literal' ? /^\\?'(.*)'/s.exec(node.text) : null;
  if (quoted === null)
    throw notAllowed(
      `Argument ${node.position + 1} of ${readName(call)} must be a name in quotes, not an expression`,
    );
  return quoted[1];
}
