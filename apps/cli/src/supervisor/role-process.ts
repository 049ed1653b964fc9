import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { RoleMessage, SupervisorMessage } from '@retrace/process';
import type { LogLevel, LogStream } from './log-stream.js';
import { lowerPriority } from './lower-priority.js';
import { parseLogLine } from './parse-log-line.js';

export type ReadyMessage = Extract<RoleMessage, { type: 'ready' }>;
export type RequestMessage = Extract<RoleMessage, { type: 'request' }>;
export type WarningMessage = Extract<RoleMessage, { type: 'warning' }>;

export interface RoleExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last line on stderr that reads like a sentence; '' when there was none. */
  readonly lastSentence: string;
}

interface RoleProcessOptions {
  readonly role: string;
  readonly script: string;
  readonly nodeArguments: readonly string[];
  readonly niceness: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Inherited by the child, so that the data directory stays locked while the child lives. */
  readonly lockFileDescriptors: readonly number[];
  readonly log: LogStream;
  readonly onMessage: (message: RoleMessage) => void;
  readonly onExit: (exit: RoleExit) => void;
}

/** One life of a role's process: started with an IPC channel and in a process group of its own. */
export class RoleProcess {
  private readonly child: ChildProcess;
  private lastSentence = '';

  constructor(private readonly options: RoleProcessOptions) {
    const { role, script, nodeArguments, environment, lockFileDescriptors, niceness } = options;
    // The role's name as an argument identifies the process in `ps`.
    this.child = spawn(process.execPath, [...nodeArguments, script, role], {
      env: { ...process.env, ...environment },
      // With a group of its own the child does not get Ctrl-C from the terminal; the supervisor does, and stops the roles in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...lockFileDescriptors],
    });
    if (niceness > 0 && this.child.pid !== undefined) lowerPriority(this.child.pid, niceness);
    this.forwardLines(this.child.stdout, 'info');
    this.forwardLines(this.child.stderr, 'warn');
    this.child.on('message', (message) => {
      options.onMessage(message as RoleMessage);
    });
    this.child.once('error', (error) => {
      this.lastSentence = error.message;
    });
    this.child.once('close', (code, signal) => {
      options.onExit({ code, signal, lastSentence: this.lastSentence });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  send(message: SupervisorMessage): void {
    // A process that has ended needs no answer.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  private forwardLines(stream: NodeJS.ReadableStream | null, level: LogLevel): void {
    if (!stream) return;
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() === '') return;
      const entry = parseLogLine(this.options.role, line, level);
      const isLast = stream === this.child.stderr && entry.level !== 'debug';
      if (isLast && readsLikeSentence(entry.message)) this.lastSentence = entry.message;
      this.options.log.write(entry);
    });
  }
}

/** False for stack frames, source excerpts and Node's version line. */
function readsLikeSentence(line: string): boolean {
  return /^[A-Za-z]/.test(line) && !/^Node\.js v/.test(line) && !/^(file|node):/.test(line);
}
