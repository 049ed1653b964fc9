import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeDataDirectory, root, startRetrace } from './cli.mjs';

const run = promisify(execFile);
const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const START_TIMEOUT_MS = 110_000;

/** Folder of the Python client. */
export const CLIENT = join(root, 'clients', 'python');

/**
 * Makes a virtual environment in the cache, once; `install` gets its Python. It is made elsewhere and moved, so programs in it are
 * called as `python -m`.
 *
 * @param {string} name names it, and changes when its contents should
 * @param {(python: string, directory: string) => Promise<void>} install
 * @returns {Promise<{ python: string } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function makePythonEnvironment(name, install) {
  const { directory, python } = environmentPaths(name);
  if (existsSync(python)) return { python };
  // An installation that was cut off is never used.
  const arriving = `${directory}.${process.pid}`;
  try {
    const system = await findPython();
    if (system === null) return { unavailable: `there is no Python 3.10 or newer (${PYTHONS.join(', ')})` };
    await mkdir(dirname(directory), { recursive: true });
    console.log(`Installing Python packages into ${directory}, once …`);
    await run(system, ['-m', 'venv', arriving]);
    await install(join(arriving, 'bin', 'python'), arriving);
    await rename(arriving, directory);
    return { python };
  } catch (error) {
    await rm(arriving, { recursive: true, force: true });
    if (existsSync(python)) return { python };
    // Our own list contradicts itself, which no other machine would mend.
    if (/ResolutionImpossible/.test(error.stderr ?? error.message)) throw error;
    return { unavailable: `Python packages could not be installed: ${error.message.split('\n')[0]}` };
  }
}

/**
 * Where the environment of that name is, or would be.
 *
 * @param {string} name
 */
export function environmentPaths(name) {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const directory = join(cache, 'retrace', 'python', name);
  return { directory, python: join(directory, 'bin', 'python') };
}

/**
 * @param {string} python
 * @param {readonly string[]} requirements
 */
export async function pipInstall(python, requirements) {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements];
  await run(python, pip, { timeout: 900_000, maxBuffer: 64 * 1024 ** 2 });
}

/** The environment of the client's own tests, made again when `pyproject.toml` changes. */
export function clientEnvironment() {
  const list = readFileSync(join(CLIENT, 'pyproject.toml'));
  const name = `client-${createHash('sha256').update(list).digest('hex').slice(0, 12)}`;
  return makePythonEnvironment(name, (python) => pipInstall(python, [`${CLIENT}[test]`]));
}

/**
 * Variables of a Python that has the client's sources before any installed package.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @returns {NodeJS.ProcessEnv}
 */
export function pythonVariables(environment) {
  const paths = [join(CLIENT, 'src'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  return { ...process.env, ...environment, PYTHONPATH: paths, PYTHONDONTWRITEBYTECODE: '1' };
}

/**
 * Runs Python in the client's folder, with its sources before any installed package.
 *
 * @param {string} python
 * @param {readonly string[]} args
 * @param {Record<string, string>} [environment]
 * @returns {Promise<number>} the exit code
 */
export function runPython(python, args, environment = {}) {
  const child = spawn(python, args, {
    cwd: CLIENT,
    env: pythonVariables(environment),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/**
 * Calls `use` with the variables that name a Retrace to the tests, which is stopped afterwards; what that said last is printed if `use`
 * gives an exit code.
 *
 * @param {(environment: Record<string, string>) => Promise<number>} use
 */
export async function withRetrace(use) {
  const data = makeDataDirectory();
  const recipe = ['--recipe', 'bandit-ppo', '--updates', '1'];
  const server = startRetrace(['up', ...recipe, '--port', '0', '--data-dir', data.path]);
  try {
    const url = await server.untilServing(START_TIMEOUT_MS);
    const code = await use({ RETRACE_TEST_URL: url, RETRACE_TEST_DATA_DIR: data.path });
    if (code !== 0) console.log(`The server's last lines:\n${server.lines.slice(-40).join('\n')}`);
    return code;
  } finally {
    await server.killTree();
    data.remove();
  }
}

async function findPython() {
  for (const name of PYTHONS) {
    try {
      await run(name, ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']);
      return name;
    } catch {
      // Not this one.
    }
  }
  return null;
}
