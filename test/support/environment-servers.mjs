import { copyFileSync, cpSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { installAgentGym } from './agentgym.mjs';
import { installHostedPackages, installOpenEnv } from './hosted-packages.mjs';
import { root } from './cli.mjs';
import { CLIENT } from './python-client.mjs';

/** A file in the servers' folder, with the process id of every server that was started, one a line. */
const STARTS = 'starts';

/** Environment servers that other people wrote, and environments of other people that ours hosts. */
export function environmentServers(agentGymSource) {
  return [
    ...['textcraft', 'babyai'].map((family) => agentGym(family, agentGymSource)),
    hosted('openenv', 'openenv_guess.py', installOpenEnv, { protocol: 'openenv' }),
    hosted('gymnasium', 'gymnasium_lake.py', installHostedPackages, { protocol: 'retrace' }),
    hosted('verifiers', 'verifiers_sums.py', installHostedPackages, { protocol: 'retrace' }),
  ];
}

function agentGym(family, source) {
  return {
    name: family,
    server: { protocol: 'agentgym', family, maxSteps: 15 },
    install: () => installAgentGym(source),
    /** The server reads files beside its code by relative paths, so it runs in a copy of its folder. */
    prepare: ({ python, folder }, directory) => {
      cpSync(folder(family), directory, { recursive: true });
      const launch = `from agentenv_${family} import launch; launch()`;
      return [python, '-c', launch, '--host', '127.0.0.1', '--port', '{port}'];
    },
  };
}

function hosted(name, program, install, server) {
  return {
    ...{ name, server, install },
    prepare: ({ python }, directory) => {
      copyFileSync(join(root, 'test', 'support', 'hosts', program), join(directory, program));
      return ['env', `PYTHONPATH=${join(CLIENT, 'src')}`, python, program, '{port}'];
    },
  };
}

/**
 * Writes a file that names the environment for commands into a folder, with everything that its servers read. Each start is noted there.
 *
 * @returns {string} the file
 */
export function writeServerFile(directory, { name, server }, command, options) {
  const noted = ['sh', '-c', `echo $$ >> ${STARTS} && exec "$@"`, 'sh', ...command];
  const file = join(directory, 'environment.json');
  writeFileSync(file, JSON.stringify({ name, server: { ...server, ...options, command: noted } }));
  return file;
}

/** Process ids of all servers that were started so far, in order. */
export function startedServers(directory) {
  try {
    return readFileSync(join(directory, STARTS), 'utf8').trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

/** Processes that run in a folder. */
export function processesIn(directory) {
  return readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readlinkSync(join('/proc', entry, 'cwd')).startsWith(directory);
    } catch {
      return false;
    }
  });
}

/** The first of several ports in a row that are free now. */
export async function freePorts(count) {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 12_000);
    const servers = Array.from({ length: count }, () => createServer());
    const areFree = await Promise.all(
      servers.map(
        (server, place) =>
          new Promise((resolve) => {
            server.once('error', () => resolve(false));
            server.listen(first + place, '127.0.0.1', () => resolve(true));
          }),
      ),
    );
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    if (areFree.every(Boolean)) return first;
  }
}
