import { collectEpisodes, type CollectResult } from '@retrace/collector';
import { CheckpointFiles } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { PatientLog } from '@retrace/log';
import { ControlTail } from '@retrace/log';
import { readCodeVersion } from '../../installation.js';
import type { BackendName } from '../../server/role-definitions.js';
import type { StoreSession } from '../../services/connection.js';

export interface CollectIntoLogOptions {
  readonly environment: string;
  readonly policy: string;
  readonly numEpisodes: number;
  readonly seed: number;
  readonly backend?: BackendName;
}

/** Appends real episodes to the session's log; they are in its store when this resolves, or soon where a server runs. */
export async function collectIntoLog(
  session: StoreSession,
  { backend, ...options }: CollectIntoLogOptions,
): Promise<CollectResult> {
  const { name } = await openBackend(backend === undefined ? {} : { prefer: [backend] });
  const stop = new AbortController();
  const onInterrupt = () => {
    stop.abort();
  };
  process.once('SIGINT', onInterrupt);
  const control = new ControlTail(new PatientLog(session.log, { signal: stop.signal }));
  try {
    const result = await collectEpisodes({
      ...options,
      log: session.log,
      control,
      checkpoints: new CheckpointFiles(session.directory.checkpoints),
      engine: `retrace ${name}`,
      codeVersion: await readCodeVersion(),
      signal: stop.signal,
    });
    await session.catchUp();
    return result;
  } finally {
    control.close();
    process.off('SIGINT', onInterrupt);
  }
}
