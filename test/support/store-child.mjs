import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './cli.mjs';

export const STORE_USER = { username: 'retrace', password: 'of a test' };

/** The store's process as `retrace up` and `retrace store` start it, without a supervisor: a test that kills it restarts it. */
export class StoreChild {
  /**
   * @param {import('node:child_process').ChildProcess} child
   * @param {string} url
   * @param {Promise<number | string>} ended
   */
  constructor(child, url, ended) {
    this.child = child;
    this.pid = Number(child.pid);
    this.url = url;
    /** Exit code, or the signal that ended it. */
    this.ended = ended;
    this.said = '';
    child.stderr?.on('data', (chunk) => (this.said += chunk));
  }

  /**
   * @param {string} directory
   * @param {{ port?: number, prefix?: readonly string[], environment?: Record<string, string> }} [options] `prefix`: a command
   *   that runs the one after it, such as `['prlimit', '--fsize=65536']`
   * @throws when it exits before it serves
   */
  static async start(directory, { port = 0, prefix = [], environment = {} } = {}) {
    const program = join(root, 'apps', 'store', 'dist', 'main.js');
    const [command, ...args] = [...prefix, process.execPath, program];
    const child = spawn(command, args, {
      // The IPC channel tells the process when its parent has exited.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        RETRACE_STORE_DIRECTORY: directory,
        RETRACE_STORE_HOST: '127.0.0.1',
        RETRACE_STORE_PORT: String(port),
        RETRACE_STORE_USER: STORE_USER.username,
        RETRACE_STORE_PASSWORD: STORE_USER.password,
        RETRACE_STORE_READONLY_USER: 'retrace_readonly',
        RETRACE_STORE_READONLY_PASSWORD: 'of a reader',
        UV_THREADPOOL_SIZE: '8',
        ...environment,
      },
    });
    const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
    let said = '';
    const url = await new Promise((resolve, reject) => {
      const listen = (chunk) => {
        said += chunk;
        const found = /ClickHouse engine .* on (http:\S+)/.exec(said);
        if (found !== null) resolve(found[1]);
      };
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.once('close', (code, signal) =>
        reject(new Error(`The store exited with ${code ?? signal}: ${said}`)),
      );
    });
    return new StoreChild(child, url, ended);
  }

  /** @param {NodeJS.Signals} [signal] */
  async end(signal = 'SIGKILL') {
    this.child.kill(signal);
    return this.ended;
  }
}
