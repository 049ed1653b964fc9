import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const START_WITHIN_MS = 420_000;

/**
 * Starts a server that is a Python module, and waits until its `/health`, or another path, answers.
 *
 * @param {string} python
 * @param {readonly string[]} args
 * @param {{ readonly url: string, readonly env: NodeJS.ProcessEnv, readonly path?: string }} server
 * @returns {Promise<() => Promise<void>>} ends it with all its processes
 * @throws Error with its last lines when it ends or does not answer
 */
export async function startPythonServer(python, args, { url, env, path = '/health' }) {
  // A process group of its own: servers of models start more processes.
  const child = spawn(python, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-Number(child.pid), 'SIGKILL');
    await ended;
  };
  const deadline = performance.now() + START_WITHIN_MS;
  while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
    if (await isHealthy(url + path)) return stop;
    await sleep(1_000);
  }
  await stop();
  throw new Error(`${args.slice(0, 2).join(' ')} did not start; it said last:\n${said}`);
}

/**
 * Starts such a server, to be killed and started again at the same address.
 *
 * @param {() => Promise<() => Promise<void>>} start resolves with how to end it
 * @param {readonly string[]} directories removed when it is stopped
 * @returns {Promise<{ kill: () => Promise<void>, startAgain: () => Promise<void>, stop: () => Promise<void> }>}
 */
export async function startKillable(start, directories) {
  let kill = await start();
  return {
    kill: () => kill(),
    startAgain: async () => {
      kill = await start();
    },
    stop: async () => {
      await kill();
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @param {string} url */
async function isHealthy(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
