import ts from 'typescript';

const IGNORED = new Set([
  ts.SyntaxKind.JSDoc,
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
]);

const SCRIPT = /\.(ts|tsx|mts|js|mjs)$/;

/**
 * The part of a source file that can change how fast the program is or what it does: for TypeScript and JavaScript its tokens
 * without comments, white space, imports, re-exports, interfaces and type aliases, so neither rewording a comment nor moving a
 * neighbour to another folder changes it; for every other file the whole text.
 *
 * A type annotation, a trailing comma or a renamed variable does change it: a result may be called stale for nothing, but none
 * stays current that isn't. One exception: an import that now names another module with an equally named export is not seen,
 * unless that module changed, too.
 *
 * @param {string} text
 * @param {string} path its extension says which language it is
 * @returns {string} equal for two texts with equal code
 */
export function codeFingerprint(text, path) {
  if (!SCRIPT.test(path)) return text;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  /** @type {string[]} */
  const tokens = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (IGNORED.has(node.kind) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) return;
    const children = node.getChildren(source);
    if (children.length === 0) tokens.push(node.getText(source));
    else children.forEach(visit);
  };
  visit(source);
  return tokens.filter((token) => token !== '').join('\n');
}
