import { Buffer } from 'node:buffer';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

/** Data directories of a test, which are removed together. */
export class DataDirectories {
  /** @type {{ path: string, remove: () => void }[]} */
  #made = [];

  /** Makes another one; returns its path. */
  make() {
    const directory = makeDataDirectory();
    this.#made.push(directory);
    return directory.path;
  }

  removeAll() {
    for (const directory of this.#made.splice(0)) directory.remove();
  }
}

/** Makes a fresh data directory; returns its path and a function that removes it. */
export function makeDataDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'retrace-test-'));
  const remove = () => {
    rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  };
  return { path, remove };
}

/** The variables of this process without those that opening a backend here has set, which a command sets itself. */
function childVariables() {
  const { TF_CPP_MIN_LOG_LEVEL, TF_FORCE_GPU_ALLOW_GROWTH, TF_ENABLE_ONEDNN_OPTS, ...others } = process.env;
  void [TF_CPP_MIN_LOG_LEVEL, TF_FORCE_GPU_ALLOW_GROWTH, TF_ENABLE_ONEDNN_OPTS];
  return others;
}

/**
 * Runs `retrace` with these arguments until it exits.
 *
 * @param {readonly string[]} args
 * @param {{ environment?: Record<string, string>, nodeArguments?: readonly string[] }} [options]
 */
export async function runRetrace(args, { environment = {}, nodeArguments = [] } = {}) {
  const child = spawn(process.execPath, [...nodeArguments, retrace, ...args], {
    env: { ...childVariables(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** @type {Buffer[]} */
  const out = [];
  /** @type {Buffer[]} */
  const err = [];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  /** @type {number | null} */
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout: Buffer.concat(out).toString().trim(), stderr: Buffer.concat(err).toString().trim() };
}

/**
 * Starts `retrace` in its own process group, as a shell does.
 *
 * @param {readonly string[]} args
 * @param {Record<string, string>} [environment] added to this process's own
 */
export function startRetrace(args, environment) {
  return new Session(process.execPath, [retrace, ...args], environment);
}

/**
 * Starts `npm start -- …args` in a tree, by default this one.
 *
 * @param {readonly string[]} args
 * @param {string} [directory]
 */
export function startWithNpm(args, directory) {
  return new Session('npm', ['start', '--silent', '--', ...args], {}, directory);
}

/** A running command with output to wait for. */
export class Session {
  /** @type {string[]} */
  lines = [];
  /** @type {Set<() => void>} */
  #checks = new Set();
  #startedAt = performance.now();

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {Record<string, string>} [environment]
   * @param {string} [directory] where it runs
   */
  constructor(command, args, environment = {}, directory = root) {
    this.child = spawn(command, args, {
      cwd: directory,
      detached: true,
      env: { ...childVariables(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = Number(this.child.pid);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        for (const check of this.#checks) check();
      });
    }
    /** @type {Promise<number | string>} Exit code, or the signal that ended it. */
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve(code ?? String(signal)));
    });
  }

  /** Milliseconds since the start. */
  elapsedMs() {
    return performance.now() - this.#startedAt;
  }

  /** Seconds since the start, as text for people. */
  elapsed() {
    return `${(this.elapsedMs() / 1000).toFixed(1)} s`;
  }

  /**
   * Resolves with the first group of the pattern (or the match) once a line matches.
   *
   * @param {RegExp} pattern
   * @param {number} withinMs
   * @returns {Promise<string>}
   */
  async waitFor(pattern, withinMs = 60_000) {
    /** @type {Promise<string>} */
    const found = new Promise((resolve) => {
      const check = () => {
        for (const line of this.lines) {
          const match = pattern.exec(line);
          if (match) resolve(match[1] ?? match[0]);
        }
      };
      this.#checks.add(check);
      check();
    });
    const value = await Promise.race([
      found,
      sleep(withinMs, null, { ref: false }),
      this.ended.then(() => sleep(50, null)),
    ]);
    if (value !== null) return value;
    const last = this.lines.slice(-30).join('\n');
    throw new Error(`No line matched ${pattern} within ${withinMs / 1000} s; the last lines were:\n${last}`);
  }

  /**
   * Waits until the page of a `retrace up` is there, and its store too.
   *
   * @param {number} [withinMs] for each of the two
   * @returns {Promise<string>} the address
   */
  async untilServing(withinMs) {
    const url = await this.waitFor(/dashboard at (http:\S+)\/live/, withinMs);
    await this.waitFor(/the store is up/, withinMs);
    return url;
  }

  /**
   * Sends a signal to the whole process group, as Ctrl-C in a terminal does; resolves with the exit code.
   *
   * @param {NodeJS.Signals} signal
   */
  stop(signal) {
    process.kill(-this.pid, signal);
    return this.ended;
  }

  /** Returns the process ids of the supervised roles, by name. */
  roles() {
    return rolesOf(this.pid);
  }

  /** Kills the supervisor (with npm, where npm started it) and all its roles at once, with SIGKILL. */
  async killTree() {
    const pids = Object.values(this.roles());
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
    for (const pid of pids) kill(pid);
    await this.ended;
  }
}

/**
 * @param {number} supervisorPid
 * @returns {Record<string, number>}
 */
function rolesOf(supervisorPid) {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  /** @type {Record<string, number>} */
  const roles = {};
  for (const line of table.split('\n')) {
    const [pid, parentPid, ...args] = line.trim().split(/\s+/);
    const role = /apps\/\w+\/dist\/(?:bundle\/\w+\/|colocated\/|validator-)?main\.js (\S+)$/.exec(
      args.join(' '),
    );
    if (role && Number(parentPid) === supervisorPid) roles[role[1]] = Number(pid);
  }
  return roles;
}

/** @param {number} pid */
export function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
