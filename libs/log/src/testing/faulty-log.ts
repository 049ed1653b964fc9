import { LogError } from '../log-error.js';
import type { EventLog } from '../event-log.js';
import { overriding } from './overriding.js';

/** The fate of an append: it succeeds, is refused before or after it landed, or never settles, landed or not. */
export type Fault = 'none' | 'refused' | 'lostAnswer' | 'hangs' | 'landsAndHangs';

/** Wraps a real log so that its appends fail or hang, like those of a slow or unavailable log. */
export function faultyLog(log: EventLog, faultOf: () => Fault, delayMs = () => 0): EventLog {
  const refusal = (): LogError => new LogError('LOG_UNREACHABLE', 'the broker is away', { retriable: true });
  const withFault = async <T>(land: () => Promise<T>): Promise<T> => {
    const fault = faultOf();
    if (delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, delayMs()));
    if (fault === 'refused') throw refusal();
    if (fault === 'hangs') return new Promise(() => undefined);
    const landed = await land();
    if (fault === 'lostAnswer') throw refusal();
    if (fault === 'landsAndHangs') return new Promise(() => undefined);
    return landed;
  };
  return overriding(log, {
    append: (...call) => withFault(() => log.append(...call)),
    appendInStages: (...call) => withFault(() => log.appendInStages(...call)),
  });
}
