import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { runCommand } from '../run-command.js';

/** The parts of the machine that an installation uses. */
export interface BuildTools {
  readonly python: string;
  /** A directory that holds `include/node/node_api.h`. */
  readonly nodePrefix: string;
}

/** Where and with which tools something is compiled. */
export interface CompileStep {
  readonly tools: BuildTools;
  /** An installation, finished or being built. */
  readonly directory: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds Python 3 with pip, a C++ compiler, make and the headers of Node.
 *
 * @param environment variables under which they are looked for; PYTHON and CXX name a Python and a compiler
 * @throws ComputeError `BACKEND_NOT_INSTALLABLE`, one sentence that names the first missing one and how to install it
 */
export async function findBuildTools(environment: NodeJS.ProcessEnv): Promise<BuildTools> {
  const python = await firstThatRuns(
    [environment['PYTHON'], 'python3', 'python'],
    ['-c', PYTHON_CHECK],
    environment,
  );
  if (python === null) throw missing('Python 3.8 or newer (`python3`) was not found; install python3');
  const pip = await runCommand(python, ['-m', 'pip', '--version'], { environment });
  if (pip.exitCode !== 0) throw missing(`\`${python} -m pip\` does not run; install python3-pip`);
  const compiler = await firstThatRuns(
    [environment['CXX'], 'c++', 'g++', 'clang++'],
    ['--version'],
    environment,
  );
  if (compiler === null) throw missing('no C++ compiler (c++, g++ or clang++) was found; install g++');
  if ((await firstThatRuns(['make'], ['--version'], environment)) === null) {
    throw missing('`make` was not found; install make');
  }
  const nodePrefix = await firstWithNodeHeaders(await nodePrefixes(environment));
  if (nodePrefix === null) {
    throw missing(
      `the headers of Node (include/node/node_api.h) were found neither beside the running node nor in a common place; \
install libnode-dev, or run \`npx node-gyp install\``,
    );
  }
  return { python, nodePrefix };
}

const PYTHON_CHECK = 'import sys; sys.exit(0 if sys.version_info >= (3, 8) else 1)';

/** Lists the places of Node's headers; of any version, because the addon uses only Node-API, which is stable. */
async function nodePrefixes(environment: NodeJS.ProcessEnv): Promise<(string | undefined)[]> {
  const cache = environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return [
    environment['npm_config_nodedir'],
    resolve(dirname(process.execPath), '..'),
    join(cache, 'node-gyp', process.versions.node),
    await configuredNodePrefix(environment),
    '/usr',
    '/usr/local',
  ];
}

/** Returns the first directory that holds `include/node/node_api.h`, or null. */
export async function firstWithNodeHeaders(
  prefixes: readonly (string | undefined)[],
): Promise<string | null> {
  for (const prefix of prefixes) {
    if (prefix === undefined || prefix === '') continue;
    const found = await access(join(prefix, 'include', 'node', 'node_api.h')).then(
      () => true,
      () => false,
    );
    if (found) return prefix;
  }
  return null;
}

async function configuredNodePrefix(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { exitCode, output } = await runCommand('npm', ['config', 'get', 'nodedir', '--loglevel=silent'], {
    environment,
  });
  return exitCode === 0 ? output.trim().split('\n').at(-1) : undefined;
}

async function firstThatRuns(
  commands: readonly (string | undefined)[],
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  for (const command of commands) {
    if (command === undefined || command === '') continue;
    const { exitCode } = await runCommand(command, args, { environment, timeoutMs: 30_000 });
    if (exitCode === 0) return command;
  }
  return null;
}

function missing(what: string): ComputeError {
  return new ComputeError('BACKEND_NOT_INSTALLABLE', `The fast backend can't be installed: ${what}.`);
}
