export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogEntry {
  readonly role: string;
  readonly level: LogLevel;
  readonly message: string;
}

/** Where the log of the whole process tree goes, one entry at a time. */
export interface LogStream {
  write(entry: LogEntry): void;
  /** A bar that is redrawn in place on a terminal; elsewhere one line per ten percent. Fraction null = unknown. */
  progress(role: string, message: string, fraction: number | null): void;
}

const colors: Readonly<Record<string, number>> = { store: 34, api: 36, sink: 36, trainer: 35, collector: 32 };
const levelColors: Readonly<Record<LogLevel, number>> = { debug: 90, info: 0, warn: 33, error: 31 };
const roleWidth = 'collector'.length;
const barWidth = 24;

export interface LogStreamOptions {
  readonly json: boolean;
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly now?: () => Date;
}

/** One stream a person can read (`time role message`), or JSON lines. */
export function createLogStream({ json, out, now = () => new Date() }: LogStreamOptions): LogStream {
  if (json) return new JsonLogStream(out, now);
  return new TextLogStream(out, now);
}

/** For commands whose output is something else: says only what went wrong. */
export function errorsOnly(out: NodeJS.WritableStream): LogStream {
  return {
    write: ({ role, level, message }) => {
      if (level === 'error') out.write(`${role}: ${message}\n`);
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
    this.out.write(
      `${JSON.stringify({ time: this.now().toISOString(), role, level: 'info', message, fraction })}\n`,
    );
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
    const time = this.now().toTimeString().slice(0, 8);
    const paddedRole = role.padEnd(roleWidth);
    const marked = level === 'warn' || level === 'error' ? `${level}: ${message}` : message;
    this.out.write(
      this.isColored
        ? `${paint(90, time)} ${paint(colors[role] ?? 1, paddedRole)} ${paint(levelColors[level], marked)}\n`
        : `${time} ${paddedRole} ${marked}\n`,
    );
  }

  progress(role: string, message: string, fraction: number | null): void {
    if (this.isTerminal) {
      this.clearBar();
      const filled = Math.round((fraction ?? 0) * barWidth);
      const bar = fraction === null ? '' : `[${'#'.repeat(filled).padEnd(barWidth, '·')}] `;
      const paddedRole = role.padEnd(roleWidth);
      const name = this.isColored ? paint(colors[role] ?? 1, paddedRole) : paddedRole;
      this.out.write(`${' '.repeat(9)}${name} ${bar}${message}`);
      this.barIsDrawn = true;
      return;
    }
    const tenth = Math.floor((fraction ?? 0) * 10);
    if (tenth === this.lastTenth && message === this.lastProgressMessage) return;
    this.lastTenth = tenth;
    this.lastProgressMessage = message;
    const percent = fraction === null ? '' : ` ${String(tenth * 10)} %`;
    this.write({ role, level: 'info', message: message + percent });
  }

  private clearBar(): void {
    if (this.barIsDrawn) this.out.write('\r\u001b[2K');
    this.barIsDrawn = false;
  }
}

function paint(color: number, text: string): string {
  return color === 0 ? text : `\u001b[${String(color)}m${text}\u001b[0m`;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Severity letters of TensorFlow's own log; what it says by itself while all is well is of no use to who runs a server. */
const nativeLevels: Readonly<Record<string, LogLevel>> = { I: 'debug', W: 'debug', E: 'warn', F: 'error' };
const nativeNotice = 'WARNING: All log messages before absl::InitializeLog()';

/**
 * Reads one line of a child's output: a JSON object with `level` and `message` (or `msg`), `level role message`, TensorFlow's
 * native form, or anything else, which is taken as the message at `fallback`.
 */
export function parseLogLine(role: string, line: string, fallback: LogLevel): LogEntry {
  if (line.startsWith('{')) {
    const entry = parseJsonLine(role, line, fallback);
    if (entry) return entry;
  }
  const native = /^([IWEF])\d{4} [\d:.]+ +\d+ [^\]]+\] (.*)$/.exec(line);
  if (native) return { role, level: nativeLevels[native[1]], message: native[2] };
  if (line.startsWith(nativeNotice)) return { role, level: 'debug', message: line };
  const [first, second, ...rest] = line.split(' ');
  const level = levels.find((name) => name === first.toLowerCase());
  if (level === undefined) return { role, level: fallback, message: line };
  return { role, level, message: second === role ? rest.join(' ') : line.slice(first.length + 1) };
}

function parseJsonLine(role: string, line: string, fallback: LogLevel): LogEntry | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
  const message = value.message ?? value.msg;
  if (typeof message !== 'string') return null;
  return { role, level: levels.find((name) => name === value.level) ?? fallback, message };
}
