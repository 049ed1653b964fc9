import type { WarningLog } from '@retrace/log';
import type { WarningRaised } from '@retrace/trajectory';
import type { LogEntry, LogStream } from './log-stream.js';

/**
 * Passes a log on, and raises what the supervisor warns of as events: its own warnings, and the last words of roles. Entries before
 * `recordTo` are only shown.
 */
export class WarningRecorder implements LogStream {
  private warnings: Pick<WarningLog, 'raise'> | null = null;

  constructor(private readonly log: LogStream) {}

  /** Where warnings go from now on; null: they are only shown. */
  recordTo(warnings: Pick<WarningLog, 'raise'> | null): void {
    this.warnings = warnings;
  }

  write({ isRecorded = false, ...entry }: LogEntry): void {
    this.log.write(entry);
    const { role, level, message } = entry;
    if (isRecorded || (level !== 'warn' && level !== 'error')) return;
    this.warnings?.raise({ source: toSource(role), message });
  }

  progress(role: string, message: string, fraction: number | null): void {
    this.log.progress(role, message, fraction);
  }
}

function toSource(role: string): WarningRaised['source'] {
  const name = role.replace(/-\d+$/, '');
  switch (name) {
    case 'trainer':
    case 'collector':
    case 'validator':
    case 'sink':
    case 'api':
    case 'store':
      return name;
    case 'trainer+collector':
      return 'trainer';
    default:
      return 'system';
  }
}
