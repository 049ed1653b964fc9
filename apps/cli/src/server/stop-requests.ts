import type { LogStream } from '../supervisor/log-stream.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The terminal and npm both pass Ctrl-C on to a process. Signals this close together count as one request. */
const SAME_REQUEST_MS = 500;

interface StopRequests {
  /** Aborted by the first request, which means to stop in order. */
  readonly signal: AbortSignal;
  dispose(): void;
}

/**
 * Aborts on SIGINT, SIGTERM, SIGHUP, and when the reader of this process's output has closed it. A second, later signal calls
 * `onForce`.
 */
export function listenForStop(log: LogStream, onForce: () => void): StopRequests {
  const controller = new AbortController();
  let firstAt = 0;
  const handle = (name: NodeJS.Signals): void => {
    if (firstAt === 0) {
      firstAt = performance.now();
      const hint = name === 'SIGINT' ? ' (press Ctrl-C again to end everything at once)' : '';
      log.write({ role: 'retrace', level: 'info', message: `stopping${hint}` });
      controller.abort();
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) {
      onForce();
    }
  };
  const handleLostReader = (): void => {
    firstAt = performance.now();
    controller.abort();
  };
  for (const name of STOP_SIGNALS) process.on(name, handle);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', handleLostReader);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of STOP_SIGNALS) process.off(name, handle);
      for (const stream of [process.stdout, process.stderr]) stream.off('error', handleLostReader);
    },
  };
}
