import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../free-port.mjs';
import { ProcessError } from '../process-error.js';
import { WATCHDOG } from './watchdog.js';

export interface ServerProcessOptions {
  /** Program and arguments; `{port}` is replaced. */
  readonly command: readonly string[];
  readonly directory: string | undefined;
  /** Variables of the server beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Null: a free port for each start. */
  readonly port: number | null;
  readonly startTimeoutMs: number;
  /** Asks whether a server is ready; rejects with the reason why not. */
  readonly check: (url: string, signal: AbortSignal) => Promise<void>;
  /** Called when a server that was ready ends without having been stopped, with its last lines. */
  readonly onEnd?: (lastLines: readonly string[]) => void;
}

const STOP_GRACE_MS = 5_000;
const POLL_MS = 100;
const CHECK_TIMEOUT_MS = 10_000;
const NUM_KEPT_LINES = 5;

/** One server that Retrace started: its process, its address, and whether it answers. */
export class ServerProcess {
  private child: ChildProcess | null = null;
  private url = '';
  private lastLines: string[] = [];
  private restarting: Promise<string> | null = null;

  constructor(private readonly options: ServerProcessOptions) {}

  /**
   * Starts the server, and resolves with its address when it answers.
   *
   * @throws ProcessError `SERVER_FAILED` when it ends, or does not answer in time, with its last lines
   */
  async start(): Promise<string> {
    const port = this.options.port ?? (await findFreePort());
    const command = this.options.command.map((part) => part.replaceAll('{port}', `${port}`));
    this.url = `http://127.0.0.1:${port}`;
    this.lastLines = [];
    const child = spawn(process.execPath, ['-e', WATCHDOG, '--', `${STOP_GRACE_MS}`, ...command], {
      cwd: this.options.directory,
      env: { ...process.env, ...this.options.environment },
      // Its own group, so that the terminal's Ctrl-C and a signal to this process's group leave the order of ends to Retrace.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    child.once('error', (error) => this.lastLines.push(error.message));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lastLines = [...this.lastLines, line].slice(-NUM_KEPT_LINES);
      });
    }
    await this.untilReady(child, command);
    child.once('close', () => {
      if (this.child === child) this.options.onEnd?.(this.lastLines);
    });
    return this.url;
  }

  /** Whether the server answers. */
  async answers(): Promise<boolean> {
    if (this.child?.exitCode !== null) return false;
    try {
      await this.options.check(this.url, AbortSignal.timeout(CHECK_TIMEOUT_MS));
      return true;
    } catch {
      return false;
    }
  }

  /** Stops the server and starts another; calls at the same time are one. */
  restart(): Promise<string> {
    this.restarting ??= this.stop()
      .then(() => this.start())
      .finally(() => (this.restarting = null));
    return this.restarting;
  }

  /** Ends the server and all processes of its group: SIGTERM, then SIGKILL after 5 s. */
  async stop(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.end();
    await ended;
  }

  private async untilReady(child: ChildProcess, command: readonly string[]): Promise<void> {
    const deadline = performance.now() + this.options.startTimeoutMs;
    for (let reason = ''; ; await sleep(POLL_MS)) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw this.failure(command, `ended with exit code ${child.exitCode ?? child.signalCode}`);
      }
      if (performance.now() > deadline) {
        await this.stop();
        throw this.failure(command, `did not answer within ${this.options.startTimeoutMs} ms (${reason})`);
      }
      try {
        await this.options.check(this.url, AbortSignal.timeout(CHECK_TIMEOUT_MS));
        return;
      } catch (error) {
        reason = (error as Error).message;
      }
    }
  }

  private failure(command: readonly string[], what: string): ProcessError {
    const said = this.lastLines.length === 0 ? '' : `; it said: ${this.lastLines.join(' | ')}`;
    return new ProcessError('SERVER_FAILED', `the server "${command.join(' ')}" ${what}${said}`);
  }
}
