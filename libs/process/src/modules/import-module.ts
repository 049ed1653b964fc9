import { existsSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LOADER_HOOKS } from './loader-hooks.js';

/** Reason why a file cannot be used. The message does not name the file; whoever loads it does. */
export class ModuleFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ModuleFault';
  }
}

/** Whether Node runs TypeScript itself, which the types of Node 20 do not know of. */
const STRIPS_TYPES = Boolean((process.features as { readonly typescript?: unknown }).typescript);

/** Packages of Retrace that such files are written with. */
export const PACKAGES_OF_MODULES = [
  '@retrace/rewards',
  '@retrace/environments',
  '@retrace/algorithms/registry',
];

let isHookRegistered = false;

/**
 * Returns the default export of a JavaScript or TypeScript file in any folder, which may import the packages of Retrace that such
 * files are written with. A file is run once for each `version`; the modules that it imports are kept until the process ends.
 *
 * @param versionOf text that changes when the file shall run again, by the file's URL; default: it never does
 * @throws ModuleFault for a relative path, a file that is missing, fails while it runs, or exports no default
 */
export async function importModule(path: string, versionOf?: (href: string) => string): Promise<unknown> {
  if (!isAbsolute(path)) throw new ModuleFault('must be an absolute path, or relative to a recipe file');
  if (!existsSync(path)) throw new ModuleFault('not found');
  if (!isHookRegistered) {
    register(`data:text/javascript,${encodeURIComponent(LOADER_HOOKS)}`, {
      parentURL: import.meta.url,
      data: { packages: findPackages(), stripsTypes: STRIPS_TYPES, compiler: findCompiler() },
    });
    isHookRegistered = true;
  }
  const { href } = pathToFileURL(path);
  let exported: { readonly default?: unknown };
  try {
    const query = versionOf === undefined ? '' : `?code=${versionOf(href)}`;
    exported = (await import(/* @vite-ignore */ `${href}${query}`)) as typeof exported;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ModuleFault(`running it failed: ${message}`, cause);
  }
  if (exported.default === undefined) throw new ModuleFault('has no default export');
  return exported.default;
}

/** URL of each package, by name. */
function findPackages(): Readonly<Record<string, string>> {
  return Object.fromEntries(PACKAGES_OF_MODULES.map((name) => [name, import.meta.resolve(name)]));
}

/** URL of the package `typescript`; null where it is not installed. */
function findCompiler(): string | null {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve('typescript')).href;
  } catch {
    return null;
  }
}
