import { parseRecipe, recipeHash, requestHash, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import {
  newControlEvent,
  newRunId,
  type ControlFold,
  type Json,
  type RunState,
  nowUs,
} from '@retrace/trajectory';
import { markRunStart, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import { completeInit, completeTeacher, requireNamedWeights } from './complete-init.js';
import { encodeEvent } from '@retrace/trajectory/codec';

export interface BegunRun {
  readonly runId: string;
  /** Whether the log already has the run, unfinished. */
  readonly isResumed: boolean;
  /** As the run has it: with what its data was when it began. */
  readonly recipe: Recipe;
}

interface BeginRunOptions {
  readonly recipe: Recipe;
  readonly codeVersion: string;
  /** Where the weights are that a recipe starts from. */
  readonly checkpoints: CheckpointFiles;
  /** Finds out what stored data a new run has; needed where the recipe has sources of data. */
  readonly completeData?: (recipe: Recipe) => Promise<Recipe>;
}

/**
 * Finds the newest unfinished run of exactly this recipe (equal hash, so seed and number of updates count), or starts a new one,
 * whose `RunStarted` is in the log when this resolves. A run on stored data is resumed with the data that it began with, one that starts from
 * another run's policy with that version, one with a teacher with that teacher.
 *
 * @param state fold of the log's control stream up to now
 * @throws CliError as `completeInit`, `completeTeacher` and `requireNamedWeights`; TrainerError `ENGINE_UNAVAILABLE`
 */
export async function beginRun(
  log: EventLog,
  state: ControlFold,
  options: BeginRunOptions,
): Promise<BegunRun> {
  await requireEngine(options.recipe);
  const unfinished = state.runs.findLast((run) => run.ended === null && isOf(options.recipe, run));
  if (unfinished) {
    // Engine and processes are those of the request: a run may go on with others.
    const { engine, process } = options.recipe;
    const recipe = { ...parseRecipe(unfinished.started.recipe), engine, process };
    return { runId: unfinished.runId, isResumed: true, recipe };
  }

  // Before data sets are made of stored data.
  const named = await completeTeacher(completeInit(options.recipe, state), state);
  await requireNamedWeights(named, state, options.checkpoints);
  const recipe = (await options.completeData?.(named)) ?? named;
  const { name: environment } = await readEnvironment(recipe.environment);
  const runId = newRunId();
  const event = newControlEvent({
    kind: 'RunStarted',
    logId: log.logId,
    runId,
    occurredAtUs: nowUs(),
    payload: {
      name: recipe.name,
      runKind: 'trained',
      recipe: JSON.parse(JSON.stringify(recipe)) as Json,
      recipeHash: recipeHash(recipe),
      seed: recipe.seed,
      environment,
      codeVersion: options.codeVersion,
      baselines: [],
      tags: [],
      metadata: null,
    },
  });
  await markRunStart(log, runId);
  await log.append('control', 0, [encodeEvent(event)]);
  return { runId, isResumed: false, recipe };
}

async function requireEngine(recipe: Recipe): Promise<void> {
  const { engine } = recipe;
  if (engine?.kind === 'torch') await (await import('@retrace/trainer/torch')).requireEnginePackages(engine);
  if (engine?.kind === 'tinker') await (await import('@retrace/trainer/tinker')).requireServer(recipe);
}

/** Parts of a recipe that are completed when a run begins. */
const COMPLETED = ['data', 'initFrom', 'distillation'] as const;

/** Whether a run was begun with this recipe. */
function isOf(recipe: Recipe, { started }: RunState): boolean {
  if (started.recipeHash === recipeHash(recipe)) return true;
  if (started.recipe === null || started.runKind !== 'trained') return false;
  const begun = started.recipe as Readonly<Record<string, Json>>;
  const reads = (one: object) => COMPLETED.some((part) => Boolean((one as Record<string, unknown>)[part]));
  return reads(recipe) && reads(begun) && requestHash(parseRecipe(begun)) === requestHash(recipe);
}
