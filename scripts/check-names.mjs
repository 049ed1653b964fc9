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
/** Names that other people's files import. */
const PUBLIC = new Set(['dataSourceOf', 'splitOf', 'wordsOf', 'contentOf', 'partsOf', 'reasoningOf']);

const listed = execFileSync('git', ['ls-files', 'libs', 'apps', 'clients/typescript/src'], {
  cwd: root,
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => /\.tsx?$/.test(path) && !/\.(spec|d)\.tsx?$/.test(path));
const sources = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

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
