import { listenForStop } from './stop-requests.js';
import { TrainingServer, type TrainingServerOptions } from './training-server.js';

export interface ServeOptions extends TrainingServerOptions {
  /** What to do once it serves. `stopped` aborts when the server stops for whatever reason; then it should return soon. */
  readonly work: (server: TrainingServer, stopped: AbortSignal) => Promise<void>;
}

const forcedExitCode = 130;

/**
 * Starts a training server, does the work and stops the server in order, whether the work ended, somebody asked to stop
 * or it can't go on.
 *
 * @throws what kept it from starting; CliError `ROLE_FAILED` when a role failed for good, `DISK_FULL`
 */
export async function serve({ work, ...options }: ServeOptions): Promise<void> {
  const { log } = options;
  let server: TrainingServer | null = null;
  const stop = listenForStop(log, () => {
    server?.killAll();
    process.exit(forcedExitCode);
  });
  try {
    server = await TrainingServer.start(options);
    if (stop.signal.aborted) return;
    const asked = new Promise<void>((resolve) => {
      stop.signal.addEventListener('abort', () => {
        resolve();
      });
    });
    await Promise.race([work(server, server.stopping), asked, server.watch()]);
  } finally {
    await server?.stop();
    stop.dispose();
  }
}
