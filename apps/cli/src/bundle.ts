import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where the programs lie as a few files in place of a thousand, which Node loads in a third of the time (`scripts/bundle-programs.mjs`): each in `<name>.js`.
 */
export const BUNDLE_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'bundle');

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
