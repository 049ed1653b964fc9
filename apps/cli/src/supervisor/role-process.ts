import { spawn, type ChildProcess } from 'node:child_process';
import { constants, getPriority, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { RoleMessage } from '@retrace/process';
import { parseLogLine, type LogLevel, type LogStream } from './log-stream.js';

export type ReadyMessage = Extract<RoleMessage, { type: 'ready' }>;

export interface RoleExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last thing the process said on stderr that reads like a sentence; '' when it said nothing. */
  readonly lastSentence: string;
}

export interface RoleProcessOptions {
  readonly role: string;
  readonly script: string;
  readonly nodeArguments: readonly string[];
  readonly niceness: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Held open by the child: the data directory stays locked while it lives. */
  readonly lockFileDescriptor: number | null;
  readonly log: LogStream;
  readonly onMessage: (message: RoleMessage) => void;
  readonly onExit: (exit: RoleExit) => void;
}

/** One life of a role's process: started with an IPC channel and in a process group of its own. */
export class RoleProcess {
  private readonly child: ChildProcess;
  private lastSentence = '';

  constructor(private readonly options: RoleProcessOptions) {
    const { role, script, nodeArguments, environment, lockFileDescriptor, niceness } = options;
    // The role's name says in a list of processes which is which.
    this.child = spawn(process.execPath, [...nodeArguments, script, role], {
      env: { ...process.env, ...environment },
      // Its own group: Ctrl-C in the terminal reaches the supervisor alone, which then stops the roles in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...(lockFileDescriptor === null ? [] : [lockFileDescriptor])],
    });
    if (niceness > 0) stepBack(this.child, niceness);
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

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  private forwardLines(stream: NodeJS.ReadableStream | null, level: LogLevel): void {
    if (!stream) return;
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() === '') return;
      const entry = parseLogLine(this.options.role, line, level);
      if (stream === this.child.stderr && readsLikeSentence(entry.message)) this.lastSentence = entry.message;
      this.options.log.write(entry);
    });
  }
}

/** Before the process has threads: on Linux each has a priority of its own, which new ones take over. */
function stepBack({ pid }: ChildProcess, niceness: number): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // It has ended already, or the system knows no priorities.
  }
}

/** Leaves out stack frames, source excerpts and Node's version line. */
function readsLikeSentence(line: string): boolean {
  return /^[A-Za-z]/.test(line) && !/^Node\.js v/.test(line) && !/^(file|node):/.test(line);
}
