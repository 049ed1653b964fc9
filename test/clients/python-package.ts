import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 240_000;

export type PythonWithPackage =
  | { readonly kind: 'available'; readonly python: string }
  /** The reason completes "skipped, because …". */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** A Python of its own with one pinned package (`name==version`) from PyPI, installed once into the cache; it takes `python3` with venv. */
export async function pythonWith(requirement: string): Promise<PythonWithPackage> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const directory = join(cache, 'retrace', 'python', requirement.replaceAll('==', '-'));
  const python = join(directory, 'bin', 'python');
  if (existsSync(python)) return { kind: 'available', python };
  // Installed beside and renamed, so that an installation that was cut off is never used: pip and python work from either place.
  const arriving = `${directory}.${process.pid}`;
  try {
    await mkdir(dirname(directory), { recursive: true });
    await run('python3', ['-m', 'venv', arriving]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement];
    await run(join(arriving, 'bin', 'python'), pip, { timeout: INSTALL_TIMEOUT_MS });
    await rename(arriving, directory);
    return { kind: 'available', python };
  } catch (error) {
    await rm(arriving, { recursive: true, force: true });
    if (existsSync(python)) return { kind: 'available', python };
    const message = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { kind: 'unavailable', reason: `${requirement} could not be installed: ${message}` };
  }
}
