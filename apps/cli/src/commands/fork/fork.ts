import {
  forkEpisodes,
  openForkPlayer,
  readForkedStep,
  type ForkedStep,
  type ForkResult,
} from '@retrace/collector';
import { openBackend } from '@retrace/compute';
import { resolveEnvironment, type EnvironmentRecipe } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import type { EnvironmentSpec } from '@retrace/environments';
import { ControlTail, PatientLog } from '@retrace/log';
import type { BackendChoice } from '@retrace/process';
import type { Json, RunState } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import { selectRun } from '@retrace/runs';
import { readCodeVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { wholePolicyName } from '../../run/policy-name.js';
import { sayChosenRun } from '../../run/said-runs.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { printForks } from './print-forks.js';
import { readForkReport, type ForkReport } from './read-fork-report.js';
import { openCheckpoints } from '../../services/checkpoints.js';

interface ForkOptions extends CommonOptions {
  readonly run: string;
  readonly episode: string;
  readonly step: number;
  readonly action?: string;
  readonly policy?: string;
  readonly forks: number;
  readonly greedy?: true;
  readonly seed: number;
  readonly chance: 'own' | 'parent';
  readonly trainable?: true;
  readonly environment?: string;
  readonly backend?: BackendChoice;
}

const FORKABLE = {
  has: ({ started }: RunState) => started.runKind === 'trained' && !isForkRun(started.recipe),
  lacking: 'has episodes that can be forked',
};

const isForkRun = (recipe: Json) => recipe !== null && typeof recipe === 'object' && 'fork' in recipe;

/** Forks a step of a stored episode, and prints what the step is worth and how that compares with what happened. */
export async function fork({ dataDir, json, ...options }: ForkOptions): Promise<void> {
  const report = await withStore({ dataDir }, (session) =>
    withInterrupt(async (signal) => {
      const control = new ControlTail(new PatientLog(session.log, { signal }));
      try {
        await control.catchUp();
        return await forkInSession({ session, control, signal }, options);
      } finally {
        control.close();
      }
    }),
  );
  if (json === true) console.log(JSON.stringify(report));
  else printForks(report);
}

interface OpenSession {
  readonly session: StoreSession;
  readonly control: ControlTail;
  readonly signal: AbortSignal;
}

async function forkInSession(
  open: OpenSession,
  options: Omit<ForkOptions, keyof CommonOptions>,
): Promise<ForkReport> {
  const { session, control } = open;
  const { readEpisodeEvents } = await import('@retrace/store');
  const { runId } = selectRun(control.state.runs, options.run, {
    needs: FORKABLE,
    onChosen: sayChosenRun,
  });
  const { episode: episodeId, step } = options;
  const point = await readForkedStep((key) => readEpisodeEvents(session.client, key), {
    ...{ runId, episodeId, step },
  });
  const { recipe } = control.run(point.origin.runId).started;
  const environment = await openEnvironment(readEnvironment(recipe, options.environment));
  let result: ForkResult;
  try {
    requireSame(environment.spec, point);
    result = await play(open, { point, spec: environment.spec }, options);
  } finally {
    await environment.close();
  }
  await session.catchUp();
  return readForkReport(session.client, { point, result });
}

async function play(
  { session, control, signal }: OpenSession,
  { point, spec }: { readonly point: ForkedStep; readonly spec: EnvironmentSpec },
  { policy, forks, action, greedy, chance, seed, trainable, backend }: Omit<ForkOptions, keyof CommonOptions>,
): Promise<ForkResult> {
  const { name } = await openBackend(backend === undefined ? {} : { prefer: [backend] });
  const checkpoints = openCheckpoints(session.directory);
  const player = await openForkPlayer({
    ...{ control, checkpoints, spec, point, signal },
    policy: policy === undefined ? null : wholePolicyName(policy, control.state.runs, spec.name),
    maxSlots: forks,
  });
  return forkEpisodes({
    ...{ control, spec, point, player, chance, seed, signal },
    log: session.log,
    numForks: forks,
    action: action ?? null,
    greedy: greedy ?? false,
    trainable: trainable ?? false,
    engine: `retrace ${name}`,
    codeVersion: await readCodeVersion(),
    warn: (message) => console.error(`warning: ${message}`),
  });
}

/** The environment that a run's episodes were played in, or the one that the user names. */
function readEnvironment(recipe: Json, named: string | undefined): string | EnvironmentRecipe {
  if (named !== undefined) return resolveEnvironment(named);
  const { environment } = recipe as { readonly environment?: string | EnvironmentRecipe };
  if (environment !== undefined) return environment;
  throw new CliError(
    'OPTION_INVALID',
    'the run does not say which environment it played; name it with --environment',
  );
}

function requireSame({ name }: EnvironmentSpec, { started, episodeId }: ForkedStep): void {
  if (name === started.environment) return;
  const message = `episode ${episodeId} was played in ${started.environment}, and --environment names ${name}`;
  throw new CliError('OPTION_INVALID', message);
}
