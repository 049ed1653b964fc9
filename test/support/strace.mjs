import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Calls that change the content of a directory, or make it durable. */
export const COMMIT_CALLS = [
  'write',
  'pwrite64',
  'fsync',
  'fdatasync',
  'rename',
  'link',
  'mkdir',
  'unlink',
  'rmdir',
];

/**
 * A call of a traced process. `nth` is its number among the calls of this name in its thread, because strace counts `when=N` per
 * thread.
 *
 * @typedef {object} TracedCall
 * @property {string} name
 * @property {number} nth From 1.
 * @property {string} path File or directory; empty where it has none.
 */

const DETACH_WITHIN_MS = 2_000;

/** @type {string | null | undefined} */
let unavailable;

/** Returns why strace can't be used here, to complete "skipped, because …"; null when it can. */
export function whyNoStrace() {
  unavailable ??= findProblem() ?? '';
  return unavailable === '' ? null : unavailable;
}

function findProblem() {
  if (spawnSync('strace', ['--version']).error !== undefined) return 'strace is not installed';
  const sleeper = spawn('sleep', ['5'], { stdio: 'ignore' });
  try {
    const attached = spawnSync('timeout', ['1', 'strace', '-o', '/dev/null', '-p', String(sleeper.pid)]);
    const said = String(attached.stderr);
    return /attached/.test(said) ? null : `strace may not attach to a process here (${said.trim()})`;
  } finally {
    sleeper.kill('SIGKILL');
  }
}

/** Runs strace on a process and all its threads, including future ones. */
export class Strace {
  #directory = mkdtempSync(join(tmpdir(), 'retrace-strace-'));
  /** @type {import('node:child_process').ChildProcess} */
  #child;
  /** @type {Promise<unknown>} */
  #ended;

  /**
   * @param {number} pid
   * @param {readonly string[]} calls
   * @param {string} [injection] such as `signal=SIGKILL:when=3` or `error=EIO`
   */
  constructor(pid, calls, injection) {
    this.#child = spawn(
      'strace',
      [
        ...['-f', '-y', '-s', '0', '-o', join(this.#directory, 'trace')],
        ...['-e', `trace=${calls.join(',')}`],
        ...(injection === undefined ? [] : ['-e', `inject=${calls.join(',')}:${injection}`]),
        ...['-p', String(pid)],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /**
   * Attaches strace; resolves once it traces the process.
   *
   * @param {number} pid
   * @param {readonly string[]} calls
   * @param {string} [injection]
   */
  static async attach(pid, calls, injection) {
    const strace = new Strace(pid, calls, injection);
    await strace.#attached();
    return strace;
  }

  #attached() {
    let said = '';
    return new Promise((resolve, reject) => {
      this.#child.stderr?.on('data', (chunk) => {
        said += chunk;
        if (/attached/.test(said)) resolve(undefined);
      });
      this.#child.once('error', reject);
      this.#child.once('close', () => reject(new Error(`strace did not attach: ${said}`)));
    });
  }

  /** Resolves once one of the calls was made. */
  async untilCalled(withinMs = 10_000) {
    const lastMs = performance.now() + withinMs;
    while (this.#calls().length === 0) {
      if (performance.now() > lastMs) throw new Error(`None of the calls was made within ${withinMs} ms`);
      await sleep(20);
    }
  }

  #calls() {
    return parseCalls(this.#trace());
  }

  #trace() {
    return readFileSync(join(this.#directory, 'trace'), 'utf8');
  }

  /** Resolves once the process was killed, even while strace still holds it; at the latest when strace exits. */
  async #killed() {
    const isOver = this.#ended.then(() => true);
    while (!/\+\+\+ killed by SIGKILL/.test(this.#trace())) {
      if (await Promise.race([isOver, sleep(100, false, { ref: false })])) return;
    }
  }

  /**
   * Waits until the process was killed or its work is over, at most `withinMs`; then detaches.
   *
   * @param {Promise<unknown>} over
   * @param {number} withinMs
   */
  async detachAfter(over, withinMs) {
    await Promise.race([over, this.#killed(), sleep(withinMs, undefined, { ref: false })]);
    return this.detach();
  }

  /**
   * Detaches from the process, which continues if it is alive; returns the calls that it made.
   *
   * @returns {Promise<TracedCall[]>}
   */
  async detach() {
    this.#child.kill('SIGTERM');
    // strace can wait forever for a thread of a killed process; once strace is gone, the kernel removes that thread.
    const isStuck = await Promise.race([this.#ended, sleep(DETACH_WITHIN_MS, 'stuck', { ref: false })]);
    if (isStuck === 'stuck') this.#child.kill('SIGKILL');
    await this.#ended;
    const calls = this.#calls();
    rmSync(this.#directory, { recursive: true, force: true });
    return calls;
  }
}

/**
 * @param {string} trace Output of `strace -f -y`.
 * @returns {TracedCall[]}
 */
export function parseCalls(trace) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const calls = [];
  for (const line of trace.split('\n')) {
    const match = /^(\d+) +([a-z0-9_]+)\((?:"([^"]*)"|\d+<([^>]*)>)?/.exec(line);
    if (match === null) continue;
    const [, thread, name, named, ofDescriptor] = match;
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, nth);
    calls.push({ name, nth, path: named ?? ofDescriptor ?? '' });
  }
  return calls;
}
