import { listenForStop } from './stop-requests.js';
import { TrainingServer, type TrainingServerOptions } from './training-server.js';

interface ServeOptions extends TrainingServerOptions {
  /** Called once the server is up. `stopped` aborts when the server stops for any reason; the work then has to return soon. */
  readonly work: (server: TrainingServer, stopped: AbortSignal) => Promise<void>;
}

const FORCED_EXIT_CODE = 130;

/**
 * Starts a training server, does the work, and stops the server in order when the work has ended, a stop was requested, or the
 * server cannot continue.
 *
 * @throws the errors of `TrainingServer.start`; CliError `ROLE_FAILED` when a role failed permanently, `DISK_FULL`
 */
export async function serve({ work, ...options }: ServeOptions): Promise<void> {
  const { log } = options;
  let server: TrainingServer | null = null;
  const stop = listenForStop(log, () => {
    server?.killAll();
    process.exit(FORCED_EXIT_CODE);
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
