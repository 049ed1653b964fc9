import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REWARDS_MODULE } from '../../index.js';
import { initSync, parse } from 'es-module-lexer';
import { RewardError } from '../../errors.js';

/**
 * SHA-256, hex, of a module's text and of all that it imports: files by content, packages by name and version, built-in
 * modules by name; `@retrace/rewards` by content, and the other packages of Retrace, which only check options, by name. Its folder does not count, nor its line endings,
 * nor the compiler that made JavaScript of it: for `dist/x.js` beside `src/x.ts` the source is taken. Type-only
 * imports don't run and don't count.
 *
 * @param module file URL or absolute path
 * @throws RewardError `MODULE_UNREADABLE` naming the file that is missing or is no module
 */
export function codeHash(module: string): string {
  initSync();
  const entry = readSource(module.startsWith('file:') ? fileURLToPath(module) : module);
  // Numbered in the order of imports, so that names of folders do not count.
  const numbers = new Map<string, number>([[entry, 0]]);
  const parts: string[] = [];
  for (const file of numbers.keys()) {
    const text = readModule(file);
    const imports = listImports(file, text).map((specifier) => {
      const url = specifier === '@retrace/rewards' ? REWARDS_MODULE : specifier;
      if (!isFile(url)) return `${specifier} ${packageVersion(file, specifier)}`;
      const target = readSource(url.startsWith('file:') ? fileURLToPath(url) : resolve(dirname(file), url));
      if (!numbers.has(target)) numbers.set(target, numbers.size);
      return String(numbers.get(target));
    });
    parts.push(JSON.stringify([text, imports]));
  }
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

/** Source of a compiled file, where it exists: beside it, or in `src` beside its `dist`. */
function readSource(path: string): string {
  const at = path.lastIndexOf(`${sep}dist${sep}`);
  const inSources = at === -1 ? path : `${path.slice(0, at)}${sep}src${sep}${path.slice(at + 6)}`;
  const sources = [path, inSources].map((file) => file.replace(/\.js$/, '.ts'));
  const found = [...sources, path].find((file) => existsSync(file));
  return found === undefined ? path : realpathSync(found);
}

function readModule(file: string): string {
  try {
    return readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  } catch (cause) {
    throw new RewardError('MODULE_UNREADABLE', `reward code ${file}: cannot be read`, { cause });
  }
}

function listImports(file: string, text: string): string[] {
  try {
    const [imports] = parse(text);
    return imports.flatMap(({ n, d, ss, se }) => {
      if (n !== undefined) return isTypeOnly(text.slice(ss, se)) ? [] : [n];
      // import.meta has d −2; any other import without a name is computed when it runs.
      return d === -2 ? [] : ['(computed)'];
    });
  } catch (cause) {
    throw new RewardError('MODULE_UNREADABLE', `reward code ${file}: is not a JavaScript module`, { cause });
  }
}

/** Whether the compiler removes the statement: `import type …`, or braces with only types. */
function isTypeOnly(statement: string): boolean {
  if (/^import\s+type\s+(?!from\s*['"])/.test(statement)) return true;
  const named = /^import\s*\{([^}]*)\}\s*from/.exec(statement)?.[1];
  const names = (named ?? '').split(',').filter((name) => name.trim() !== '');
  return names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
}

function isFile(specifier: string): boolean {
  return specifier.startsWith('.') || specifier.startsWith('/') || specifier.startsWith('file:');
}

/** Version of the package that a bare import names, searched from the importing file upwards; `''` for built-in modules. */
function packageVersion(file: string, specifier: string): string {
  if (specifier.startsWith('@retrace/')) return '';
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const manifest = join(directory, 'node_modules', name, 'package.json');
    if (existsSync(manifest)) {
      return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string }).version ?? '';
    }
    if (dirname(directory) === directory) return '';
  }
}
