import { posix } from 'node:path';
import ts from 'typescript';

const CODE = /\.(ts|tsx|mts|js|mjs|py|sh|sql|cc|h|java)$/;

/**
 * Finds the files of the repository that a script names in strings, as it does with programs that it starts and migrations that it
 * applies: `new URL('worker.mjs', import.meta.url)`, `join(root, 'apps', 'api', 'dist', 'main.js')`, `'libs/compute/src/ops'`.
 *
 * A string, or the strings that follow one another among the arguments of a call, joined by slashes, name a file where there is
 * one at that path beside the script or below the root. A path in `dist/` names its source. A path with a slash may be a
 * folder and then names all code in it. Types are left out, and imports too, but for those of a file in `dist/`: the import graph has the
 * others.
 *
 * @param {string} text of the script
 * @param {string} path of the script, relative to the root
 * @param {ReadonlySet<string>} files all files of the repository, relative to the root
 * @returns {Set<string>}
 */
export function namedFiles(text, path, files) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  /** @type {Set<string>} */
  const found = new Set();
  /** @param {readonly ts.Node[]} nodes */
  const look = (nodes) => {
    for (const name of joinedStrings(nodes))
      for (const base of [posix.dirname(path), '.'])
        for (const file of filesAt(posix.join(base, name), files, name)) found.add(file);
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || isImportOfSource(node)) return;
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) look(node.arguments ?? []);
    else if (ts.isStringLiteralLike(node)) look([node]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** @param {readonly ts.Node[]} nodes @returns {string[]} paths that hold a slash or a dot */
function joinedStrings(nodes) {
  /** @type {string[][]} */
  const runs = [[]];
  for (const node of nodes) {
    if (ts.isStringLiteralLike(node)) runs.at(-1)?.push(node.text);
    else runs.push([]);
  }
  return runs.map((run) => run.join('/')).filter((name) => /^[\w@./-]+$/.test(name) && /[./]/.test(name));
}

/** @param {ts.Node} node */
function isImportOfSource(node) {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return false;
  return node.moduleSpecifier !== undefined && !node.moduleSpecifier.getText().includes('/dist/');
}

/** @param {string} path @param {ReadonlySet<string>} files @param {string} name as it is written */
function filesAt(path, files, name) {
  const sources = [path, ...sourcesOf(path)].filter((file) => CODE.test(file) && files.has(file));
  if (sources.length > 0 || !/\/\w[\w-]*\/?$/.test(name)) return sources;
  return [...files].filter((file) => file.startsWith(`${path}/`) && CODE.test(file));
}

/** @param {string} path @returns {string[]} files that `path` is built from */
function sourcesOf(path) {
  const stem = path.replace('/dist/', '/src/').replace(/\.js$/, '');
  return path.endsWith('.js') ? [`${stem}.ts`, `${stem}.tsx`] : [];
}
