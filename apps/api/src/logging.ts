import type { LoggerService } from '@nestjs/common';
import type { WarningLog } from '@retrace/log';
import { hideKeys } from '@retrace/process';

/** Contexts of the framework's own messages: how it wires itself, and errors that it throws as well. */
const FRAMEWORK_CONTEXTS = new Set([
  'ExceptionHandler',
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** One line an event, `level message`, to standard output: the supervisor adds time and role. */
export class RoleLogger implements LoggerService {
  private warnings: Pick<WarningLog, 'raise'> | null = null;

  /** Makes warnings and errors events too, in a process without a supervisor, which would do it. */
  recordTo(warnings: Pick<WarningLog, 'raise'>): void {
    this.warnings = warnings;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  private write(level: string, message: unknown, rest: readonly unknown[]): void {
    const words = rest.filter((part): part is string => typeof part === 'string').map(hideKeys);
    const context = words.at(-1);
    if (context !== undefined && FRAMEWORK_CONTEXTS.has(context)) return;
    const details = words.slice(0, -1);
    const lines = [hideKeys(context ? `${context}: ${message}` : String(message)), ...details];
    process.stdout.write(`${level} ${lines.join('\n')}\n`);
    if (level !== 'info') this.warnings?.raise({ source: 'api', message: lines[0] });
  }
}
