import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Where the command and the programs that it starts lie as a few files in place of a thousand, which Node loads in a third of the time (`scripts/bundle-programs.mjs`): each in `<name>/main.js`.
 */
export const BUNDLE_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'bundle');

/** Whether programs start from the bundle: where it is current, unless `RETRACE_BUNDLE` is `no`, with which a debugger shows the modules as they were written. */
export function startsFromBundle(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment.RETRACE_BUNDLE !== 'no' && isBundleCurrent(BUNDLE_DIRECTORY);
}

/** Address of the module that runs a command line. */
export function commandModule(): string {
  return startsFromBundle()
    ? pathToFileURL(join(BUNDLE_DIRECTORY, 'command', 'main.js')).href
    : new URL('./main.js', import.meta.url).href;
}

/** Whether a bundle is there, and no file that it was made of is newer or gone. */
export function isBundleCurrent(directory: string): boolean {
  const inputs = join(directory, 'inputs.json');
  const madeAtMs = modifiedMs(inputs);
  if (madeAtMs === 0) return false;
  const paths = JSON.parse(readFileSync(inputs, 'utf8')) as readonly string[];
  return paths.every((path) => {
    const changedMs = modifiedMs(join(directory, path));
    return changedMs !== 0 && changedMs <= madeAtMs;
  });
}

/** When a file was last modified; 0 where it does not exist. */
function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
