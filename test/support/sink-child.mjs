import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * Options of a sink process; see `sink-program.mjs`.
 *
 * @typedef {object} SinkJob
 * @property {{ kind: 'lmdb', path: string } | { kind: 'kafka', options: { brokers: string[], prefix: string, numTrajectoryPartitions: number } }} log
 * @property {{ url: string, username: string, password: string, requestTimeoutMs?: number }} store
 * @property {{ index: number, count: number }} [share]
 * @property {import('@retrace/store').SinkOptions} [options]
 * @property {'token-deduplication' | 'cursor-before-insert' | 'position-forgotten'} [mutation] A deliberate
 *   fault of the sink.
 */

/** Small batches and short pauses, so that a few events make many commits. */
export const SMALL_BATCHES = {
  lingerMs: 5,
  minInsertIntervalMs: 5,
  minControlInsertIntervalMs: 5,
  maxBatchRecords: 40,
  watermarkInterval: 60,
  minBackoffMs: 20,
  maxBackoffMs: 200,
};

/** A sink in its own process, which tests can kill. */
export class SinkChild {
  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    this.child = child;
    this.pid = Number(child.pid);
    /** @type {Promise<number | string>} Exit code, or the signal that ended it. */
    this.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    /** True when the sink carries every partition and has no mutation. */
    this.isWhole = true;
    this.said = '';
    child.stderr?.on('data', (chunk) => (this.said += chunk));
  }

  /**
   * Starts a sink; resolves once it follows the log.
   *
   * @param {SinkJob} job
   * @param {{ environment?: Record<string, string> }} [options]
   */
  static async start(job, { environment = {} } = {}) {
    const program = fileURLToPath(new URL('sink-program.mjs', import.meta.url));
    const child = fork(program, [JSON.stringify(job)], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      execArgv: [],
      env: { ...process.env, ...environment },
    });
    const sink = new SinkChild(child);
    await Promise.race([once(child, 'message'), sink.ended]);
    return sink;
  }

  /** @param {NodeJS.Signals} [signal] */
  async end(signal = 'SIGKILL') {
    this.child.kill(signal);
    return this.ended;
  }
}
