import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Paths of the parts of this installation. */
export const installation = {
  root: ROOT,
  migrations: join(ROOT, 'migrations'),
  dashboard: join(ROOT, 'apps', 'dashboard', 'dist', 'site'),
  scripts: {
    retrace: join(ROOT, 'apps', 'cli', 'bin', 'retrace.mjs'),
    store: join(ROOT, 'apps', 'store', 'dist', 'main.js'),
    sink: join(ROOT, 'apps', 'sink', 'dist', 'main.js'),
    backend: join(ROOT, 'apps', 'cli', 'dist', 'backend-installer', 'main.js'),
    baselines: join(ROOT, 'apps', 'cli', 'dist', 'run', 'baselines-thread.js'),
    api: join(ROOT, 'apps', 'api', 'dist', 'main.js'),
    collector: join(ROOT, 'apps', 'collector', 'dist', 'main.js'),
    trainer: join(ROOT, 'apps', 'trainer', 'dist', 'main.js'),
    whatIf: join(ROOT, 'apps', 'trainer', 'dist', 'what-if', 'what-if-main.js'),
    validator: join(ROOT, 'apps', 'collector', 'dist', 'validator-main.js'),
  },
};

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Reads the version; for a git checkout with the commit, and `.dirty` for changed files: `0.1.0+1a2b3c4.dirty`. */
export async function readCodeVersion(): Promise<string> {
  const version = readVersion();
  if (!existsSync(join(ROOT, '.git'))) return version;
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', ROOT, ...args], { timeout: 5000 })).stdout.trim();
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    const changes = await git('status', '--porcelain', '--untracked-files=no');
    return `${version}+${commit}${changes === '' ? '' : '.dirty'}`;
  } catch {
    return version;
  }
}

/** The program that creates a log, as its `LogOpened` event names it. */
export const CREATED_BY = `retrace ${readVersion()}`;
