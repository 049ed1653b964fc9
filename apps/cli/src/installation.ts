import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Paths of the parts of this installation. */
export const installation = {
  root,
  migrations: join(root, 'migrations'),
  dashboard: join(root, 'apps', 'dashboard', 'dist', 'site'),
  scripts: {
    retrace: join(root, 'apps', 'cli', 'bin', 'retrace.mjs'),
    store: join(root, 'apps', 'store', 'dist', 'main.js'),
    sink: join(root, 'apps', 'sink', 'dist', 'main.js'),
    backend: join(root, 'apps', 'cli', 'dist', 'backend-installer', 'main.js'),
    api: join(root, 'apps', 'api', 'dist', 'main.js'),
    collector: join(root, 'apps', 'collector', 'dist', 'main.js'),
    trainer: join(root, 'apps', 'trainer', 'dist', 'main.js'),
  },
};

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Version, and the commit where the installation is a git checkout: `0.1.0+1a2b3c4`, with `.dirty` for changed files. */
export async function readCodeVersion(): Promise<string> {
  const version = readVersion();
  if (!existsSync(join(root, '.git'))) return version;
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', root, ...args], { timeout: 5000 })).stdout.trim();
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    const changes = await git('status', '--porcelain', '--untracked-files=no');
    return `${version}+${commit}${changes === '' ? '' : '.dirty'}`;
  } catch {
    return version;
  }
}

/** Who made a log, for its `LogOpened`. */
export const createdBy = `retrace ${readVersion()}`;
