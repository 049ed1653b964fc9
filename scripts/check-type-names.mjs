/** Checks that no two exported types of libs and apps share a name. The dashboard's types of the API are generated, and are left out. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-tool.mjs';

const DECLARATION = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm;
const listed = execFileSync('git', ['ls-files', 'libs', 'apps'], { cwd: root, encoding: 'utf8' });
const sources = listed.split('\n').filter((path) => /\.tsx?$/.test(path) && !/\.(spec|d)\.tsx?$/.test(path));

/** The files that declare each type. */
const filesOf = new Map();
for (const path of sources) {
  for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(DECLARATION)) {
    filesOf.set(name, [...(filesOf.get(name) ?? []), path]);
  }
}
const shared = [...filesOf].filter(([, files]) => files.length > 1);
for (const [name, files] of shared) console.error(`${name} is declared in ${files.join(' and ')}`);
if (shared.length > 0) {
  console.error('Rename all but one of each; a type that only its own file uses needs no export.');
  process.exit(1);
}
console.log(`${filesOf.size} exported types, each with a name of its own`);
