import { resolve } from 'node:path';
import { openBackend } from '@retrace/compute';
import { matrixProducts, parseRecipe, type EngineRecipe, type Recipe } from '@retrace/config';
import type { BackendChoice } from '@retrace/process';
import { AssignedRewards, StateVisits } from '@retrace/rewards/scoring';
import { TrajectoryReader } from '@retrace/store';
import type { ReplaySource } from '@retrace/trainer';
import { CliError } from '../../cli-error.js';
import { findRun } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { openCheckpoints } from '../../services/checkpoints.js';

interface ReplayRequest {
  readonly run: string;
  readonly backend?: BackendChoice;
  readonly engine?: EngineRecipe['kind'];
  readonly engineBackend?: EngineRecipe['backend'];
  readonly enginePython?: string;
  readonly engineUrl?: string;
  readonly engineTokenFile?: string;
}

interface OpenedSource extends ReplaySource {
  readonly recipe: Recipe;
  readonly numUpdates: number;
}

/** Finds a run with updates, and opens the backend that makes them again. */
export async function openReplaySource(
  { log, client, directory }: StoreSession,
  {
    run,
    backend,
    engine: kind,
    engineBackend,
    enginePython: python,
    engineUrl: url,
    engineTokenFile: tokenFile,
  }: ReplayRequest,
): Promise<OpenedSource> {
  const { runId, started, updates } = await findRun(log, run, {
    has: (candidate) => candidate.started.runKind === 'trained' && candidate.updates.numUpdates > 0,
    lacking: 'here has an update yet',
  });
  if (started.runKind === 'recorded') {
    const rule = 'only the trainer that made its updates can make them again';
    throw new CliError('OPTION_INVALID', `run ${runId} was recorded; ${rule}`);
  }
  const recipe = parseRecipe(started.recipe);
  await openBackend({ ...matrixProducts(recipe), prefer: backend && [backend] });
  return {
    log,
    checkpoints: openCheckpoints(directory),
    reader: new TrajectoryReader(client),
    visits: new StateVisits({ client, runId }),
    assigned: new AssignedRewards({ client }),
    runId,
    engine: {
      ...(kind ? { kind } : {}),
      ...(engineBackend ? { backend: engineBackend } : {}),
      ...(python === undefined ? {} : { python: programPath(python) }),
      ...(url === undefined ? {} : { url }),
      ...(tokenFile === undefined ? {} : { tokenFile: resolve(tokenFile) }),
    },
    recipe,
    numUpdates: updates.numUpdates,
  };
}

/** A program of the path, or one of this directory. */
function programPath(program: string): string {
  return program.includes('/') ? resolve(program) : program;
}

/** Says on stderr that updates are made again first. */
export function announceRecomputing(updateNumber: number): (from: number, to: number) => void {
  return (from, to) => {
    const range = from === to ? `update ${from}` : `updates ${from}–${to}`;
    console.error(
      `update ${updateNumber}: the state that it starts from is not kept; making ${range} again first`,
    );
  };
}
