import {
  collectEpisodes,
  readPlayerName,
  scriptedAgent,
  type CollectEpisodesOptions,
  type CollectResult,
} from '@retrace/collector';
import { resolveEnvironment } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import type { EnvironmentSpec } from '@retrace/environments';
import { openBackend } from '@retrace/compute';
import { PatientLog, ControlTail } from '@retrace/log';
import { readCodeVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { wholePolicyName } from '../../run/policy-name.js';
import { formatFigure } from '../../run/run-progress.js';
import type { BackendChoice } from '@retrace/process';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import { counted } from '../../terminal/counted.js';

interface CollectOptions extends CommonOptions {
  readonly environment: string;
  readonly policy: string;
  readonly episodes: number;
  readonly seed: number;
  /** How the policy samples; what is left out is as in its training. */
  readonly sampling: CollectEpisodesOptions['sampling'];
  readonly backend?: BackendChoice;
}

/**
 * Collects episodes as a run of their own and prints how they went.
 *
 * @throws EnvironmentError for an unknown environment or agent, before anything is opened
 */
export async function collect({ dataDir, json, ...options }: CollectOptions): Promise<void> {
  const { spec, close } = await openEnvironment(resolveEnvironment(options.environment));
  let result: CollectResult;
  try {
    if (readPlayerName(options.policy).kind === 'scripted') scriptedAgent(spec, options.policy);
    result = await withStore({ dataDir, create: true }, (session) =>
      collectIntoLog(session, { ...options, environment: spec }),
    );
  } finally {
    await close();
  }
  if (json === true) {
    console.log(JSON.stringify(result));
    return;
  }
  console.log(
    `collected ${counted(result.numEpisodes, 'episode')} as run ${result.runId}: ` +
      `success ${formatFigure(result.success)}, mean return ${formatFigure(result.meanReturn)}`,
  );
}

/** Appends episodes to the session's log. They are in its store when this resolves, or soon where a server runs. */
async function collectIntoLog(
  session: StoreSession,
  {
    backend,
    environment,
    policy,
    episodes,
    seed,
    sampling,
  }: Omit<CollectOptions, keyof CommonOptions | 'environment'> & { readonly environment: EnvironmentSpec },
): Promise<CollectResult> {
  const { name } = await openBackend(backend === undefined ? {} : { prefer: [backend] });
  return withInterrupt(async (signal) => {
    const control = new ControlTail(new PatientLog(session.log, { signal }));
    try {
      await control.catchUp();
      const result = await collectEpisodes({
        spec: environment,
        policy: wholePolicyName(policy, control.state.runs, environment.name),
        numEpisodes: episodes,
        seed,
        sampling,
        log: session.log,
        control,
        checkpoints: openCheckpoints(session.directory),
        engine: `retrace ${name}`,
        codeVersion: await readCodeVersion(),
        signal,
        warn: (message) => console.error(`warning: ${message}`),
      });
      await session.catchUp();
      return result;
    } finally {
      control.close();
    }
  });
}
