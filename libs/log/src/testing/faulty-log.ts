import { LogError } from '../log-error.js';
import type { EventLog } from '../event-log.js';

/** The fate of an append: it succeeds, is refused before or after it landed, or never settles, landed or not. */
export type Fault = 'none' | 'refused' | 'lostAnswer' | 'hangs' | 'landsAndHangs';

/** Wraps a real log so that its appends fail or hang, like those of a slow or unavailable log. */
export function faultyLog(log: EventLog, faultOf: () => Fault, delayMs = () => 0): EventLog {
  const refusal = (): LogError => new LogError('LOG_UNREACHABLE', 'the broker is away', { retriable: true });
  const append: EventLog['append'] = async (stream, partition, records) => {
    const fault = faultOf();
    if (delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, delayMs()));
    if (fault === 'refused') throw refusal();
    if (fault === 'hangs') return new Promise(() => undefined);
    const landed = await log.append(stream, partition, records);
    if (fault === 'lostAnswer') throw refusal();
    if (fault === 'landsAndHangs') return new Promise(() => undefined);
    return landed;
  };
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
