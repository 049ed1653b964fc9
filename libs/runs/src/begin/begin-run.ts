import { isRecipe, parseRecipe, recipeHash, requestHash, type Recipe } from '@retrace/config';
import { markRunStart, readControlState, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import {
  newControlEvent,
  newRunId,
  nowUs,
  type ControlFold,
  type Json,
  type RunState,
} from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import type { OnChosen } from '../choose/select-run.js';
import { completeData, requireRewarded, type DataSession } from './complete-data.js';
import { completeInit, completeTeacher, requireNamedWeights } from './complete-init.js';

export interface BegunRun {
  readonly runId: string;
  /** Whether the log already has the run, unfinished. */
  readonly isResumed: boolean;
  /** As the run has it: with what its data was when it began. */
  readonly recipe: Recipe;
}

export interface BeginRunOptions {
  readonly recipe: Recipe;
  readonly codeVersion: string;
  /** Where the weights are that a recipe starts from. */
  readonly checkpoints: CheckpointFiles;
  /** Refuses a recipe whose engine can't compute here. */
  readonly requireEngine: (recipe: Recipe) => Promise<void>;
  /** Opens log and store while a new run finds out what stored data it has; needed where the recipe has sources of data. */
  readonly withData?: <T>(work: (session: DataSession) => Promise<T>) => Promise<T>;
  /** Hears in one line each how much data a new run has. */
  readonly onNotice: (line: string) => void;
  readonly onChosen?: OnChosen;
}

/**
 * Finds the newest unfinished run of exactly this recipe (equal hash, so seed and number of updates count), or starts a new one,
 * whose `RunStarted` is in the log when this resolves. A run on stored data is resumed with the data that it began with, one that starts from
 * another run's policy with that version, one with a teacher with that teacher.
 *
 * Who calls this holds a lock on the recipe where another process may begin a run of it, or two would be begun.
 *
 * @throws RunsError as `completeInit`, `completeTeacher`, `requireNamedWeights` and `completeData`; ConfigError as `requireRewarded`; what
 *   `requireEngine` throws
 */
export async function beginRun(log: EventLog, options: BeginRunOptions): Promise<BegunRun> {
  requireRewarded(options.recipe);
  await options.requireEngine(options.recipe);
  const state = await readControlState(log);
  const unfinished = state.runs.findLast((run) => run.ended === null && belongsTo(options.recipe, run));
  if (unfinished) {
    // Engine and processes are those of the request: a run may go on with others.
    const { engine, process } = options.recipe;
    const recipe = { ...parseRecipe(unfinished.started.recipe), engine, process };
    return { runId: unfinished.runId, isResumed: true, recipe };
  }
  const recipe = await completeRecipe(state, options);
  const runId = newRunId();
  await appendStart(log, runId, { recipe, codeVersion: options.codeVersion });
  return { runId, isResumed: false, recipe };
}

/** Names in the recipe all that it means of other runs: policy, teacher and data. */
async function completeRecipe(state: ControlFold, options: BeginRunOptions): Promise<Recipe> {
  const { withData, checkpoints, onChosen } = options;
  // Before data sets are made of stored data.
  const named = await completeTeacher(completeInit(options.recipe, state, onChosen), state, onChosen);
  await requireNamedWeights(named, state, checkpoints);
  if (!named.data || withData === undefined) return named;
  return withData((session) => completeData(named, { ...options, session, state }));
}

async function appendStart(
  log: EventLog,
  runId: string,
  { recipe, codeVersion }: Pick<BeginRunOptions, 'recipe' | 'codeVersion'>,
): Promise<void> {
  const { readEnvironment } = await import('@retrace/environment-sources');
  const { name: environment } = await readEnvironment(recipe.environment);
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
      codeVersion,
      baselines: [],
      tags: [],
      metadata: null,
    },
  });
  await markRunStart(log, runId);
  await log.append('control', 0, [encodeEvent(event)]);
}

/** Parts of a recipe that are completed when a run begins. */
const COMPLETED = ['data', 'initFrom', 'distillation'] as const;

/**
 * Whether a run was begun with this recipe. The hash that the run states is no proof: an imported run may state that of another recipe, and one that was begun
 * when null was kept in its recipe states another hash than the recipe has today. So both recipes are compared as they are read today.
 */
function belongsTo(recipe: Recipe, { started }: RunState): boolean {
  if (started.recipe === null || started.runKind !== 'trained') return false;
  const begun = started.recipe as Readonly<Record<string, Json>>;
  // Both are in every recorded recipe and its hash, and spare reading most others.
  if (begun.name !== recipe.name || begun.seed !== recipe.seed || !isRecipe(begun)) return false;
  const parsed = parseRecipe(begun);
  if (recipeHash(parsed) === recipeHash(recipe)) return true;
  const reads = (one: Recipe) => COMPLETED.some((part) => Boolean(one[part]));
  return reads(recipe) && reads(parsed) && requestHash(parsed) === requestHash(recipe);
}
