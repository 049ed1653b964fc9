import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only what hangs shall end by it. */
const WITHIN_MS = 1_200_000;
const POLL_MS = 100;

/** Runs each file that is named on descriptor 3 in itself, so that variables and folder stay; Ctrl-C ends the command and not the shell. */
const SHELL = `
trap : INT
set -o pipefail
while IFS= read -r -u 3 file; do
  source "$file" > "$file.out" 2> "$file.err" 3<&- 4>&-
  echo $? >&4
done
`;

/**
 * A statement after its end.
 *
 * @typedef {{ readonly status: number, readonly stdout: string, readonly stderr: string }} Ended
 */

/** A bash in a folder that runs one statement after another, as one that a reader types them into. */
export class Terminal {
  /** Takes the exit code of the statement that runs. @type {((status: number) => void) | null} */
  #onStatus = null;
  #numStatements = 0;

  /**
   * @param {string} folder
   * @param {NodeJS.ProcessEnv} environment
   * @param {string} logs an existing folder for output
   */
  constructor(folder, environment, logs) {
    this.logs = mkdtempSync(join(logs, 'terminal-'));
    const err = openSync(join(this.logs, 'shell.err'), 'a');
    this.child = spawn('bash', ['--norc', '-c', SHELL], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', err, err, 'pipe', 'pipe'],
    });
    closeSync(err);
    this.isOver = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdio[4].on('data', (chunk) => this.#onStatus?.(Number(String(chunk))));
  }

  /**
   * Begins a statement.
   *
   * @param {string} statement
   */
  start(statement) {
    const file = join(this.logs, `${this.#numStatements++}`);
    writeFileSync(file, `${statement}\n`);
    /** @type {Promise<number>} */
    const status = new Promise((resolve) => {
      this.#onStatus = resolve;
    });
    this.child.stdio[3].write(`${file}\n`);
    const read = () => ({ stdout: readIfThere(`${file}.out`), stderr: readIfThere(`${file}.err`) });
    return { status, read };
  }

  /**
   * Runs a statement to its end.
   *
   * @param {string} statement
   * @returns {Promise<Ended>}
   */
  async run(statement) {
    const { status, read } = this.start(statement);
    return { status: await this.untilEnded(status, statement, read), ...read() };
  }

  /**
   * Runs a statement that never ends by itself until it has printed a line that matches, or has ended.
   *
   * @param {string} statement
   * @param {RegExp} says
   */
  async startServer(statement, says) {
    const { status, read } = this.start(statement);
    let isOver = false;
    void status.then(() => (isOver = true));
    for (const deadline = Date.now() + WITHIN_MS; ; await sleep(POLL_MS)) {
      const { stdout, stderr } = read();
      if (says.test(stdout) || says.test(stderr)) break;
      if (isOver) throw new Error(`ended by itself with ${await status}: ${stdout}${stderr}`);
      if (Date.now() > deadline) throw new Error(`said nothing like ${says}: ${stdout}${stderr}`);
    }
    const stop = async () => {
      process.kill(-this.child.pid, 'SIGINT');
      return { status: await this.untilEnded(status, statement, read), ...read() };
    };
    return { stop, read };
  }

  /** @param {Promise<number>} status @param {string} statement @param {() => { stdout: string, stderr: string }} read */
  async untilEnded(status, statement, read) {
    const ended = await Promise.race([status, sleep(WITHIN_MS, null, { ref: false })]);
    if (ended !== null) return ended;
    const { stdout, stderr } = read();
    throw new Error(`${statement} does not end: ${stdout}${stderr}`);
  }

  /** Ends the shell and whatever still runs in it. */
  async close() {
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
    await this.isOver;
  }
}

/** @param {string} path */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
