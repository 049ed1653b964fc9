/** The packages that `npm run pack` writes, installed in an empty folder as a user does it, with a cache that has no engine of the store yet. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from './run-tool.mjs';

const PING_TIMEOUT_MS = 60_000;
/** Only what hangs shall end by it: on a quiet machine an installation takes seconds. */
const INSTALL_TIMEOUT_MS = 900_000;

/** A newer npm says of each package whether its install script has run; those of packages with binaries need not. */
const ABOUT_SCRIPTS = 'npm warn install-scripts';

/**
 * Finds out why npm can install nothing here.
 *
 * @returns {string | null} the reason, null where it can
 */
export function findObstacle() {
  const { status, stderr } = spawnSync('npm', ['ping'], { encoding: 'utf8', timeout: PING_TIMEOUT_MS });
  return status === 0 ? null : `npm can't reach its registry: ${stderr?.trim().split('\n').at(-1)}`;
}

/**
 * Packs into an empty folder, which is made.
 *
 * @param {string} folder
 * @returns {string[]} the two packages, relative to the folder
 * @throws {Error} where there are more or fewer
 */
export function packInto(folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, [join(root, 'scripts', 'pack.mjs'), folder], { stdio: 'inherit' });
  const packages = readdirSync(folder).map((name) => `./${name}`);
  if (packages.length !== 2) throw new Error(`npm run pack wrote ${packages.join(', ')}`);
  return packages;
}

/**
 * Installs packages into the folder that has them, with the install scripts that npm runs for a user.
 *
 * @param {string} folder
 * @param {readonly string[]} packages
 * @throws {Error} where npm fails or warns
 */
export function installInto(folder, packages) {
  // npm hands its own setting, which a checkout turns on, to the commands that it runs.
  const args = ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', ...packages];
  const { status, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  });
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.startsWith(ABOUT_SCRIPTS));
  if (status !== 0 || complaints.length > 0)
    throw new Error(`npm install ended with exit code ${status} and says: ${stderr}`);
}

/**
 * Links an installed TensorFlow into a fresh cache: downloading and compiling it takes minutes. Without one, WebAssembly computes.
 *
 * @param {string} cache
 * @returns {boolean} whether there was one
 */
export function shareTensorflow(cache) {
  const installed = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'retrace', 'backends');
  mkdirSync(join(cache, 'retrace'), { recursive: true });
  if (!existsSync(installed)) return false;
  symlinkSync(installed, join(cache, 'retrace', 'backends'));
  return true;
}
