import type { LogStream } from '../supervisor/log-stream.js';

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm passes Ctrl-C on to a process that the terminal has told already; that is one request, not two. */
const sameRequestMs = 500;

export interface StopRequests {
  /** Aborted by the first request: stop in order. */
  readonly signal: AbortSignal;
  dispose(): void;
}

/**
 * Turns SIGINT, SIGTERM, SIGHUP and the end of whoever reads our output into an abort; a second signal later on calls
 * `onForce`.
 */
export function listenForStop(log: LogStream, onForce: () => void): StopRequests {
  const controller = new AbortController();
  let firstAt = 0;
  const handle = (name: NodeJS.Signals): void => {
    if (firstAt === 0) {
      firstAt = Date.now();
      const hint = name === 'SIGINT' ? ' (Ctrl-C again ends everything at once)' : '';
      log.write({ role: 'retrace', level: 'info', message: `stopping${hint}` });
      controller.abort();
    } else if (Date.now() - firstAt > sameRequestMs) {
      onForce();
    }
  };
  const handleLostReader = (): void => {
    firstAt = Date.now();
    controller.abort();
  };
  for (const name of stopSignals) process.on(name, handle);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', handleLostReader);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of stopSignals) process.off(name, handle);
      for (const stream of [process.stdout, process.stderr]) stream.off('error', handleLostReader);
    },
  };
}
