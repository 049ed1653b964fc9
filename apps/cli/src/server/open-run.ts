import type { Recipe } from '@retrace/config';
import { readControlState, type EventLog } from '@retrace/log';
import { beginRun, type BegunRun, type BeginRunOptions, type DataSession } from '@retrace/runs/begin';
import type { ControlFold } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import type { HeldDataDirectory } from '../data-directory/hold-data-directory.js';
import { RecipeLock } from '../data-directory/recipe-lock.js';
import { readCodeVersion } from '../installation.js';
import { openDataSessionOn } from '../queries/data-session.js';
import { requireEngine } from '../run/require-engine.js';
import { sayChosenRun } from '../run/said-runs.js';
import { openCheckpoints } from '../services/checkpoints.js';
import type { WarningRecorder } from '../supervisor/warning-recorder.js';
import type { StoreOfRuns } from './store-of-runs.js';

/** Makes the recipe of a run on stored data, once the store is there. */
export type RecipeOfData = (session: DataSession, state: ControlFold) => Promise<Recipe>;

/** Log, store and data directory that the runs of a training server work on. */
export interface TrainingParts {
  readonly held: HeldDataDirectory;
  readonly eventLog: EventLog;
  readonly log: WarningRecorder;
  /** Null without a store. */
  readonly storeSide: StoreOfRuns | null;
}

/** A run that this process may train until it releases it. */
export interface OpenedRun {
  readonly begun: BegunRun;
  /** The log's control stream, with the start of the run. */
  readonly state: ControlFold;
  readonly lock: Pick<RecipeLock, 'fileDescriptor'>;
  release(): void;
}

/**
 * Begins a run, or finds the unfinished one of the same recipe, and takes the lock on that recipe. A recipe on stored data finds out first what data there is.
 *
 * @throws CliError `RUN_ACTIVE` where another process trains the recipe, `OPTION_INVALID` for stored data without a store; ConfigError `RECIPE_INVALID`
 */
export async function openRun(
  parts: TrainingParts,
  asked: Recipe | RecipeOfData,
  onNotice: (line: string) => void,
): Promise<OpenedRun> {
  if (typeof asked !== 'function' && !asked.data) return lockAndBegin(parts, asked, { onNotice });
  const { held, eventLog, storeSide } = parts;
  const { directory } = held;
  if (storeSide === null) {
    const rule = 'stored episodes are in the store; leave out --no-store';
    throw new CliError('OPTION_INVALID', `--no-store: got it with a recipe on stored episodes; ${rule}`);
  }
  const storeUrl = await storeSide.serving;
  return storeSide.ask(async (client) => {
    const session = await openDataSessionOn({ client, log: eventLog, directory, storeUrl });
    await session.catchUp();
    const recipe =
      typeof asked === 'function' ? await asked(session, await readControlState(eventLog)) : asked;
    return lockAndBegin(parts, recipe, { onNotice, withData: (work) => work(session) });
  });
}

async function lockAndBegin(
  { held, eventLog }: TrainingParts,
  recipe: Recipe,
  options: Pick<BeginRunOptions, 'onNotice' | 'withData'>,
): Promise<OpenedRun> {
  const lock = await RecipeLock.acquire(held.directory, recipe);
  try {
    // Under the lock: who had it before may have begun or ended a run.
    const begun = await beginRun(eventLog, {
      ...{ ...options, recipe, requireEngine },
      codeVersion: await readCodeVersion(),
      checkpoints: openCheckpoints(held.directory),
      onChosen: sayChosenRun,
    });
    lock.nameRun(begun.runId);
    let isReleased = false;
    const release = () => {
      if (!isReleased) lock.release();
      isReleased = true;
    };
    return { begun, state: await readControlState(eventLog), lock, release };
  } catch (error) {
    lock.release();
    throw error;
  }
}
