import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Where the command and the programs that it starts lie as a few files in place of a thousand, which Node loads in a third of the time (`scripts/bundle-programs.mjs`): each in `<name>/main.js`.
 */
export const BUNDLE_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'bundle');

const INPUTS = 'inputs.json';

/** Written by the check of types, without which `npm start` compiles. */
const NOT_CHECKED_YET = '.tsbuildinfo';

/**
 * Whether programs start from the bundle: where it is current, unless `RETRACE_BUNDLE` is `no`, with which a debugger shows the modules as they were
 * written. What npm installed has no other form.
 */
export function startsFromBundle(
  environment: NodeJS.ProcessEnv = process.env,
  directory = BUNDLE_DIRECTORY,
): boolean {
  if (!isBundleCurrent(directory)) return false;
  return environment.RETRACE_BUNDLE !== 'no' || listInputs(directory).length === 0;
}

/** Address of the module that runs a command line. */
export function commandModule(): string {
  return startsFromBundle()
    ? pathToFileURL(join(BUNDLE_DIRECTORY, 'command', 'main.js')).href
    : new URL('./main.js', import.meta.url).href;
}

/** Whether a bundle is there, and no file that shows a change of its modules is newer or gone. */
export function isBundleCurrent(directory: string): boolean {
  const madeAtMs = modifiedMs(join(directory, INPUTS));
  if (madeAtMs === 0) return false;
  return listInputs(directory).every((path) => {
    const changedMs = modifiedMs(join(directory, path));
    return changedMs === 0 ? path.endsWith(NOT_CHECKED_YET) : changedMs <= madeAtMs;
  });
}

/** Files that show a change of its modules, relative to it; none where they can't change, as in what npm installed. */
function listInputs(directory: string): readonly string[] {
  return JSON.parse(readFileSync(join(directory, INPUTS), 'utf8')) as readonly string[];
}

/** When a file was last modified; 0 where it does not exist. */
function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
