import { styleText } from 'node:util';
import { shownText } from '../terminal/shown-text.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogEntry {
  readonly role: string;
  readonly level: LogLevel;
  readonly message: string;
  /** Whether it is the text of an event already (default false). */
  readonly isRecorded?: boolean;
}

/** The log of the whole process tree. */
export interface LogStream {
  write(entry: LogEntry): void;
  /** Shows a bar, redrawn in place on a terminal; elsewhere one line per ten percent. A fraction of null means unknown. */
  progress(role: string, message: string, fraction: number | null): void;
}

type Style = Parameters<typeof styleText>[0];

const ROLE_STYLES: Readonly<Record<string, Style>> = {
  store: 'blue',
  api: 'cyan',
  sink: 'cyan',
  trainer: 'magenta',
  collector: 'green',
};
const LEVEL_STYLES: Readonly<Record<LogLevel, Style | null>> = {
  debug: 'gray',
  info: null,
  warn: 'yellow',
  error: 'red',
};
const TIME_WIDTH = 'hh:mm:ss'.length;
const ROLE_WIDTH = 'collector'.length;
const BAR_WIDTH = 24;

interface LogStreamOptions {
  readonly json: boolean;
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly now?: () => Date;
}

/** Creates a log that a person can read (`time role message`), or one of JSON lines. */
export function createLogStream({ json, out, now = () => new Date() }: LogStreamOptions): LogStream {
  return json ? new JsonLogStream(out, now) : new TextLogStream(out, now);
}

/** Creates a log for commands with other output: it shows only errors. */
export function errorsOnly(out: NodeJS.WritableStream): LogStream {
  return {
    write: ({ role, level, message }) => {
      if (level === 'error') out.write(`${role}: ${shownText(message)}\n`);
    },
    progress: () => undefined,
  };
}

class JsonLogStream implements LogStream {
  constructor(
    private readonly out: NodeJS.WritableStream,
    private readonly now: () => Date,
  ) {}

  write(entry: LogEntry): void {
    this.out.write(`${JSON.stringify({ time: this.now().toISOString(), ...entry })}\n`);
  }

  progress(role: string, message: string, fraction: number | null): void {
    const time = this.now().toISOString();
    this.out.write(`${JSON.stringify({ time, role, level: 'info', message, fraction })}\n`);
  }
}

class TextLogStream implements LogStream {
  private barIsDrawn = false;
  private lastTenth = -1;
  private lastProgressMessage = '';
  private readonly isTerminal: boolean;
  private readonly isColored: boolean;

  constructor(
    private readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean },
    private readonly now: () => Date,
  ) {
    this.isTerminal = out.isTTY === true;
    this.isColored = this.isTerminal && !process.env.NO_COLOR;
  }

  write({ role, level, message }: LogEntry): void {
    if (level === 'debug') return;
    this.clearBar();
    const time = this.paint('gray', this.now().toTimeString().slice(0, TIME_WIDTH));
    const shown = shownText(message);
    const marked = level === 'warn' || level === 'error' ? `${level}: ${shown}` : shown;
    this.out.write(`${time} ${this.column(role)} ${this.paint(LEVEL_STYLES[level], marked)}\n`);
  }

  progress(role: string, message: string, fraction: number | null): void {
    if (this.isTerminal) {
      this.clearBar();
      const filled = Math.round((fraction ?? 0) * BAR_WIDTH);
      const bar = fraction === null ? '' : `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '·')}] `;
      this.out.write(`${' '.repeat(TIME_WIDTH + 1)}${this.column(role)} ${bar}${message}`);
      this.barIsDrawn = true;
      return;
    }
    const tenth = Math.floor((fraction ?? 0) * 10);
    if (tenth === this.lastTenth && message === this.lastProgressMessage) return;
    this.lastTenth = tenth;
    this.lastProgressMessage = message;
    const percent = fraction === null ? '' : ` ${tenth * 10} %`;
    this.write({ role, level: 'info', message: message + percent });
  }

  private clearBar(): void {
    if (this.barIsDrawn) this.out.write('\r\u001b[2K');
    this.barIsDrawn = false;
  }

  private column(role: string): string {
    return this.paint(ROLE_STYLES[role] ?? 'bold', role.padEnd(ROLE_WIDTH));
  }

  private paint(style: Style | null, text: string): string {
    // Whether to paint depends on `out`, while `styleText` by default asks the process's own output.
    return this.isColored && style !== null ? styleText(style, text, { validateStream: false }) : text;
  }
}
