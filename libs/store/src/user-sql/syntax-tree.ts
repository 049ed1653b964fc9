import { notAllowed } from './user-sql-error.js';

/** A node of the engine's syntax tree. */
export interface SyntaxNode {
  readonly type: string;
  /** The rest of its line: a name, a value, an alias, the number of children. */
  readonly text: string;
  readonly parent: SyntaxNode | null;
  /** Position among the parent's children, or among the roots. */
  readonly position: number;
  numChildren: number;
}

/**
 * Reads the indented lines of EXPLAIN AST, parents before their children.
 *
 * @throws UserSqlError USER_SQL_NOT_ALLOWED for anything but such lines
 */
export function readSyntaxTree(ast: string): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const open: SyntaxNode[] = [];
  let numRoots = 0;
  for (const line of ast.split('\n')) {
    if (line.trim() === '') continue;
    const fields = /^( *)([A-Za-z:]+)(?: (.*))?$/.exec(line);
    const depth = fields?.[1].length ?? Infinity;
    if (fields === null || depth > open.length)
      throw notAllowed('The engine returned a syntax tree that can not be checked');
    open.length = depth;
    const parent = open.at(-1) ?? null;
    const position = parent === null ? numRoots++ : parent.numChildren++;
    const node: SyntaxNode = { type: fields[2], text: fields[3] ?? '', parent, position, numChildren: 0 };
    open.push(node);
    nodes.push(node);
  }
  if (nodes.length === 0) throw notAllowed('The engine returned an empty syntax tree');
  return nodes;
}

/** The name of a function, table or column, without its alias and the number of its children. */
export function readName(node: SyntaxNode): string {
  return node.text.replace(/ \((?:alias |children \d+\)).*$/, '');
}
