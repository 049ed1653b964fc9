import { parsedObject } from '@retrace/trajectory/json';
import type { LogEntry, LogLevel } from './log-stream.js';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Severity letters of TensorFlow's own log. Its notices and warnings are of no use to a user while training works. */
const NATIVE_LEVELS: Readonly<Record<string, LogLevel>> = { I: 'debug', W: 'debug', E: 'warn', F: 'error' };
const NATIVE_NOTICE = 'WARNING: All log messages before absl::InitializeLog()';

/**
 * Reads one line of a child's output: a JSON object with `level` and `message` (or `msg`), `level role message`, a line of
 * TensorFlow's own log, or any other text, which becomes the message with level `fallback`.
 */
export function parseLogLine(role: string, line: string, fallback: LogLevel): LogEntry {
  if (line.startsWith('{')) {
    const entry = parseJsonLine(role, line, fallback);
    if (entry) return entry;
  }
  const native = /^([IWEF])\d{4} [\d:.]+ +\d+ [^\]]+\] (.*)$/.exec(line);
  if (native) return { role, level: NATIVE_LEVELS[native[1]], message: native[2] };
  if (line.startsWith(NATIVE_NOTICE)) return { role, level: 'debug', message: line };
  const [first, second, ...rest] = line.split(' ');
  const level = LEVELS.find((name) => name === first.toLowerCase());
  if (level === undefined) return { role, level: fallback, message: line };
  return { role, level, message: second === role ? rest.join(' ') : line.slice(first.length + 1) };
}

function parseJsonLine(role: string, line: string, fallback: LogLevel): LogEntry | null {
  const value = parsedObject(line) ?? {};
  const message = value.message ?? value.msg;
  if (typeof message !== 'string') return null;
  return { role, level: LEVELS.find((name) => name === value.level) ?? fallback, message };
}
