/**
 * Checks names: no two exported types of libs and apps share one, and function declarations, those of the TypeScript client too, begin with a verb. The dashboard's types of the API are generated, and
 * are left out.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-tool.mjs';

const TYPE = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm;
/** A function that is called for what it gives, without what it does to give it. */
const NOUN_FUNCTION = /^(?:export )?(?:async )?function\*? ([a-z]\w*Of)\b/gm;
/** Questions, combinators of rules, and views as of a moment. */
const NOT_NOUNS = /^(is|has|mayBe|require|register)(?=[A-Z])|^(oneOf|listOf|objectOf)$|AsOf$/;
/** Names that other people's files import: those of the packages for their modules, and of the TypeScript client. */
const PUBLIC = new Set([...modulePackages(), ...clientPackages()].flatMap(exportedNames));

const listed = execFileSync('git', ['ls-files', 'libs', 'apps', 'clients/typescript/src'], {
  cwd: root,
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => /\.tsx?$/.test(path) && !/\.(spec|d)\.tsx?$/.test(path));
const sources = paths.map((path) => ({ path, text: readText(path) }));

/** The files that declare each type. */
const filesByType = new Map();
for (const { path, text } of sources.filter((one) => !one.path.startsWith('clients/'))) {
  for (const [, name] of text.matchAll(TYPE)) filesByType.set(name, [...(filesByType.get(name) ?? []), path]);
}
const shared = [...filesByType].filter(([, files]) => files.length > 1);
for (const [name, files] of shared) console.error(`${name} is declared in ${files.join(' and ')}`);
if (shared.length > 0)
  console.error('Rename all but one of each; a type that only its own file uses needs no export.');

const nouns = sources.flatMap(({ path, text }) =>
  [...text.matchAll(NOUN_FUNCTION)].flatMap(([, name]) =>
    NOT_NOUNS.test(name) || PUBLIC.has(name) ? [] : [`${path}: ${name}`],
  ),
);
for (const found of nouns) console.error(found);
if (nouns.length > 0) console.error('Name functions by a verb: readUsage, toRow, findNewest, computeMean.');

if (shared.length + nouns.length > 0) process.exit(1);
console.log(`${filesByType.size} exported types, each with a name of its own; functions begin with a verb`);

function readText(path) {
  return readFileSync(join(root, path), 'utf8');
}

/** The files that the packages of `PACKAGES_OF_MODULES` export. */
function modulePackages() {
  const source = readText('libs/process/src/modules/import-module.ts');
  const [, list] = /PACKAGES_OF_MODULES = \[([^\]]*)\]/.exec(source);
  return [...list.matchAll(/'@retrace\/([^'/]+)(\/[^']+)?'/g)].map(([, name, entry = '']) =>
    exportedFile(`libs/${name}`, `.${entry}`),
  );
}

/** The files that the TypeScript client exports. */
function clientPackages() {
  const client = 'clients/typescript';
  return Object.keys(JSON.parse(readText(`${client}/package.json`)).exports).map((entry) =>
    exportedFile(client, entry),
  );
}

function exportedFile(directory, entry) {
  const { exports } = JSON.parse(readText(`${directory}/package.json`));
  return join(directory, exports[entry]['retrace-source']);
}

/** The names that a file exports by a list or by a declaration. */
function exportedNames(path) {
  const text = readText(path);
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) =>
    list.split(',').map((item) => item.trim().split(' as ').at(-1)),
  );
  const declared = [...text.matchAll(/^export (?:async )?function\*? (\w+)/gm)].map(([, name]) => name);
  return [...lists, ...declared];
}
