import type { LoggerService } from '@nestjs/common';

/** What the framework says about its own wiring, which is of no use to who runs a server. */
const FRAMEWORK_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** One line an event, `level message`, to standard output: the supervisor adds time and role. */
export class RoleLogger implements LoggerService {
  log(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    if (typeof context === 'string' && FRAMEWORK_CONTEXTS.has(context)) return;
    this.write('info', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  private write(level: string, message: unknown, rest: readonly unknown[]): void {
    const words = rest.filter((part): part is string => typeof part === 'string');
    const context = words.at(-1);
    const details = words.slice(0, -1);
    const lines = [context ? `${context}: ${String(message)}` : String(message), ...details];
    process.stdout.write(`${level} ${lines.join('\n')}\n`);
  }
}
