import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUNDLE_DIRECTORY, startsFromBundle } from './bundle.js';

const require = createRequire(import.meta.url);

/** Finds the directory of one of Retrace's packages: beside this one in the repository, in `node_modules` where npm installed them. */
function locatePackage(name: string): string {
  return dirname(require.resolve(`@retrace/${name}/package.json`));
}

const CLI = fileURLToPath(new URL('..', import.meta.url));
const COLLECTOR = locatePackage('collector');
const TRAINER = locatePackage('trainer');

/** Where the command itself begins, and each program that it starts. */
export const PROGRAMS = {
  command: join(CLI, 'dist', 'main.js'),
  agents: join(CLI, 'dist', 'agents', 'main.js'),
  store: join(locatePackage('store-process'), 'dist', 'main.js'),
  sink: join(locatePackage('sink'), 'dist', 'main.js'),
  api: join(locatePackage('api'), 'dist', 'main.js'),
  colocated: join(CLI, 'dist', 'colocated', 'main.js'),
  collector: join(COLLECTOR, 'dist', 'main.js'),
  trainer: join(TRAINER, 'dist', 'main.js'),
  gradients: join(TRAINER, 'dist', 'data-parallel', 'worker-main.js'),
  validator: join(COLLECTOR, 'dist', 'validator-main.js'),
  questions: join(TRAINER, 'dist', 'questions', 'main.js'),
  baselines: join(COLLECTOR, 'dist', 'baselines', 'main.js'),
  backend: join(CLI, 'dist', 'backend-installer', 'main.js'),
};

const isBundled = startsFromBundle();

/** Paths of the parts of this installation. */
export const installation = {
  migrations: join(locatePackage('store'), 'migrations'),
  dashboard: join(locatePackage('dashboard'), 'dist', 'site'),
  /** The page that a run is written into. */
  savedPage: join(locatePackage('dashboard'), 'dist', 'saved-page', 'page.html'),
  documentation: join(locatePackage('docs'), 'dist', 'site'),
  command: join(CLI, 'bin', 'retrace.mjs'),
  /** The script of a program, to start it as a process. */
  program: (name: keyof typeof PROGRAMS): string =>
    isBundled ? join(BUNDLE_DIRECTORY, name, 'main.js') : PROGRAMS[name],
};

/** The repository, where this is a checkout of it. */
const REPOSITORY = join(CLI, '..', '..');

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Reads the version; for a git checkout with the commit, and `.dirty` for changed files: `0.1.0+1a2b3c4.dirty`. */
export async function readCodeVersion(): Promise<string> {
  const version = readVersion();
  if (!existsSync(join(REPOSITORY, '.git'))) return version;
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', REPOSITORY, ...args], { timeout: 5000 })).stdout.trim();
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
