import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { StoreServerError } from '../store-server-error.js';

const require = createRequire(import.meta.url);
const PROGRESS_INTERVAL_MS = 500;
/** A log that is no terminal gets a line for each of them. */
const STEP_BYTES = 100e6;

/** A package of the npm registry. */
interface EnginePackage {
  readonly name: string;
  readonly version: string;
}

interface EngineOptions {
  readonly cacheDirectory?: string;
  /** Called with a null fraction where the registry does not say how large the package is; the message then says how much is there. */
  readonly onProgress?: (message: string, fraction: number | null) => void;
}

/**
 * Makes sure that the engine's binary for this platform is installed, and returns the variables with which a process finds it. An
 * installation of the npm package of Retrace leaves the binary out, since it is hundreds of megabytes; it is then downloaded, through npm,
 * into the cache directory. A platform without a binary is left to the engine, which says so.
 *
 * @throws StoreServerError `STORE_ENGINE_UNAVAILABLE` when npm can't install it
 */
export async function ensureEngine(options: EngineOptions = {}): Promise<Record<string, string>> {
  const wanted = findPackage();
  if (wanted === null || isResolved(wanted)) return {};
  const directory = await installEngine(wanted, options);
  const paths = [join(directory, 'node_modules'), process.env.NODE_PATH ?? ''];
  return { NODE_PATH: paths.filter((path) => path !== '').join(delimiter) };
}

/** Reads the binary's package for this platform from the manifest of chDB; null where there is none. */
function findPackage(): EnginePackage | null {
  const { optionalDependencies, peerDependencies } = require('chdb/package.json') as Record<
    'optionalDependencies' | 'peerDependencies',
    Readonly<Record<string, string>> | undefined
  >;
  const prefix = `@chdb/lib-${process.platform}-${process.arch}`;
  const found = Object.entries({ ...peerDependencies, ...optionalDependencies }).find(([name]) =>
    name.startsWith(prefix),
  );
  return found === undefined ? null : { name: found[0], version: found[1] };
}

function isResolved({ name }: EnginePackage): boolean {
  try {
    createRequire(require.resolve('chdb/package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Installs a package into a directory of its own in the cache, unless it is there, and returns the directory. It is complete or does not
 * exist; of several processes that install it at once, one's result is kept.
 *
 * @param source where npm gets it, by default its registry
 * @throws StoreServerError `STORE_ENGINE_UNAVAILABLE`
 */
export async function installEngine(
  { name, version }: EnginePackage,
  { cacheDirectory = defaultCacheDirectory(), onProgress, source }: EngineOptions & { source?: string } = {},
): Promise<string> {
  const engines = join(cacheDirectory, 'engines');
  const directory = join(engines, `${name.replace('@', '').replace('/', '-')}-${version}`);
  if (existsSync(directory)) return directory;
  await mkdir(engines, { recursive: true });
  const part = await mkdtemp(join(engines, '.part-'));
  const message = `downloading ClickHouse's engine (${name} ${version}), once for all data directories`;
  const sizeBytes = source === undefined ? await findUnpackedSize(`${name}@${version}`) : null;
  onProgress?.(message, sizeBytes === null ? null : 0);
  const timer = setInterval(() => {
    void measure(part).then((bytes) => {
      if (sizeBytes !== null) onProgress?.(message, Math.min(bytes / sizeBytes, 1));
      else if (bytes >= STEP_BYTES) onProgress?.(`${message}: ${shownMegabytes(bytes)} MB`, null);
    });
  }, PROGRESS_INTERVAL_MS);
  try {
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    const asked = source ?? `${name}@${version}`;
    await promisify(execFile)('npm', ['install', '--prefix', part, '--ignore-scripts', ...quiet, asked]);
    await rename(part, directory).catch((error: unknown) => {
      if (!existsSync(directory)) throw error;
    });
    return directory;
  } catch (cause) {
    const why = lastLine(cause as { readonly stderr?: string } & Error);
    throw new StoreServerError(
      'STORE_ENGINE_UNAVAILABLE',
      `The store's engine can't be installed: ${why}. It is the npm package ${name}, and is downloaded once from the registry that npm is configured with.`,
      { cause, retriable: true },
    );
  } finally {
    clearInterval(timer);
    await rm(part, { recursive: true, force: true });
  }
}

function shownMegabytes(bytes: number): number {
  return (Math.floor(bytes / STEP_BYTES) * STEP_BYTES) / 1e6;
}

/** Asks the registry for the size of a package on disk; null when it does not say. */
async function findUnpackedSize(asked: string): Promise<number | null> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', asked, 'dist.unpackedSize']);
    return Number(stdout) || null;
  } catch {
    return null;
  }
}

/** Sums the sizes of the files in a directory, of which some may disappear meanwhile. */
async function measure(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      lstat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function defaultCacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'retrace');
}

function lastLine({ stderr, message }: { readonly stderr?: string } & Error): string {
  const lines = (stderr || message).trim().split('\n');
  const line = lines.findLast((each) => !each.includes('complete log of this run')) ?? message;
  return line.replace(/^npm error\s*/, '').slice(0, 300);
}
