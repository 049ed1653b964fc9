import { installation } from '../installation.js';
import type { LogStream } from '../supervisor/log-stream.js';
import { RoleProcess } from '../supervisor/role-process.js';

interface PrepareBackendOptions {
  readonly log: LogStream;
  readonly lockFileDescriptors: readonly number[];
  readonly signal: AbortSignal;
}

/**
 * Installs the fast compute backend if there is none yet, in its own process and with a progress bar.
 * Never rejects: without it the roles use the next best backend and say which.
 */
export function prepareBackend({ log, lockFileDescriptors, signal }: PrepareBackendOptions): Promise<void> {
  return new Promise((resolve) => {
    const installer = new RoleProcess({
      role: 'backend',
      script: installation.program('backend'),
      nodeArguments: [],
      niceness: 0,
      environment: {},
      lockFileDescriptors,
      log,
      onMessage: (message) => {
        if (message.type === 'progress') log.progress('backend', message.detail, message.fraction ?? null);
      },
      onExit: ({ code, signal: endedBy, lastSentence }) => {
        signal.removeEventListener('abort', stop);
        if (code !== 0 && !signal.aborted) {
          const why =
            lastSentence === ''
              ? `the installer ended with ${endedBy ?? `exit code ${code ?? 'unknown'}`}`
              : lastSentence;
          log.write({
            role: 'backend',
            level: 'warn',
            message: `no fast backend could be installed: ${why}; continuing with a slower one`,
          });
        }
        resolve();
      },
    });
    const stop = () => {
      installer.signal('SIGTERM');
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
