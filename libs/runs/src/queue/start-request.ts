import {
  ConfigError,
  isRecipe,
  listRecipes,
  parseRecipe,
  plainAssignments,
  requireInside,
  resolvePlainRecipe,
  resolveRecipe,
  type Recipe,
  type RecipeOverrides,
} from '@retrace/config';
import type { CheckpointFiles } from '@retrace/policy';
import type { StartRequest } from '@retrace/process';
import type { ControlFold, RunState } from '@retrace/trajectory';
import { checkRecipe } from '../begin/check-recipe.js';
import { assignmentOfPolicy, completeInit, requireNamedWeights } from '../begin/complete-init.js';
import { selectRun, type OnChosen } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';

const POLICY_OF_RUN = /^run:[A-Za-z0-9][A-Za-z0-9._-]{0,199}(@(latest|best|\d{1,15}))?$/;

const RECIPE_OF_RUN = /^run:([A-Za-z0-9][A-Za-z0-9._-]{0,95})$/;

/** The log and the weights in which the runs and policies of a request are looked up. */
export interface StoredRuns {
  /** Reads the log's control stream. */
  readonly readState: () => Promise<ControlFold>;
  readonly checkpoints: CheckpointFiles;
  /** Lists assignments that hold for all runs here, unless a request overrules them. */
  readonly settings: () => readonly string[];
  readonly onChosen?: OnChosen;
}

export interface CheckedStart {
  /** The request, with the whole id of a run that it names by its recipe. */
  readonly start: StartRequest;
  readonly recipe: Recipe;
}

/**
 * Checks what a caller of the API asks to be trained, who may name nothing but what is built in and stored: neither code, files, programs nor servers.
 * A run that it names by its recipe, and a policy to start from, must be there.
 *
 * @param stored read only where a run is named
 * @throws ConfigError `RECIPE_INVALID`; RunsError `OPTION_INVALID`; both name the field
 */
export async function requireStart(start: StartRequest, stored: StoredRuns): Promise<CheckedStart> {
  requireNames(start);
  const checked = await resolveStart(start, stored);
  await requireInit(checked, stored);
  return checked;
}

/** The same, with everything that a run needs to know before it begins. @throws as `requireStart` and `checkRecipe` */
export async function recipeOfStart(start: StartRequest, stored: StoredRuns): Promise<Recipe> {
  return checkRecipe((await requireStart(start, stored)).recipe);
}

async function resolveStart(start: StartRequest, stored: StoredRuns): Promise<CheckedStart> {
  const { readState, settings } = stored;
  const [, run] = RECIPE_OF_RUN.exec(start.recipe) ?? [];
  if (run === undefined)
    return { start, recipe: resolveRecipe(start.recipe, listOverrides(start, settings())) };
  const { runId, started } = trainedRun(await readState(), {
    recipe: start.recipe,
    wanted: run,
    onChosen: stored.onChosen,
  });
  // The policies of the run have imitated already.
  const own = start.initFrom === undefined ? [] : ['imitation=null'];
  const recipe = resolvePlainRecipe(started.recipe, listOverrides(start, [...settings(), ...own]));
  return { start: { ...start, recipe: `run:${runId}` }, recipe };
}

/** The run may have been imported, so its recipe may be anybody's. */
function trainedRun(
  state: ControlFold,
  {
    recipe,
    wanted,
    onChosen,
  }: { readonly recipe: string; readonly wanted: string; readonly onChosen?: OnChosen },
): RunState {
  if (wanted === 'latest')
    throw refusal(
      'recipe',
      recipe,
      'must name a run by its id: the latest is another one by the time it begins',
    );
  const run = findNamed('recipe', recipe, () => selectRun(state.runs, wanted, { onChosen }));
  const { runKind, recipe: stored } = run.started;
  if (runKind !== 'trained' || !isRecipe(stored))
    throw refusal('recipe', recipe, 'the run must be one that was trained, with a whole recipe');
  try {
    requireInside(parseRecipe(stored));
  } catch (error) {
    if (error instanceof ConfigError) throw refusal('recipe', recipe, error.message);
    throw error;
  }
  return run;
}

/** A run named by its recipe, or as the latest, may be one that waits too, so it is only found when the run begins. */
async function requireInit(
  { start: { initFrom }, recipe }: CheckedStart,
  { readState, checkpoints, onChosen }: StoredRuns,
): Promise<void> {
  const run = recipe.initFrom?.run ?? 'latest';
  if (initFrom === undefined || run === 'latest' || recipeNames().includes(run)) return;
  const state = await readState();
  const completed = findNamed('initFrom', initFrom, () =>
    completeInit({ ...recipe, distillation: null }, state, onChosen),
  );
  try {
    await requireNamedWeights(completed, state, checkpoints);
  } catch (error) {
    if (error instanceof RunsError) throw refusal('initFrom', initFrom, error.message);
    throw error;
  }
}

/** Names the field of a request in what is refused about it. */
function findNamed<Found>(field: keyof StartRequest, value: string, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof RunsError) throw refusal(field, value, error.message);
    throw error;
  }
}

function refusal(field: keyof StartRequest, value: string, rule: string): RunsError {
  return new RunsError('OPTION_INVALID', `${field}: got ${JSON.stringify(value)}, ${rule}`);
}

function recipeNames(): readonly string[] {
  return listRecipes().map(({ name }) => name);
}

function requireNames({ recipe, initFrom }: StartRequest): void {
  const names = recipeNames();
  if (!names.includes(recipe) && !RECIPE_OF_RUN.test(recipe)) {
    const rule = `must be one of the built-in recipes ${names.join(', ')}, or "run:<run>" for that of a trained run`;
    throw refusal('recipe', recipe, rule);
  }
  if (initFrom !== undefined && !POLICY_OF_RUN.test(initFrom))
    throw refusal('initFrom', initFrom, 'must be "run:<run>", "run:<run>@<version>" or "run:<run>@best"');
}

/** @param own assignments that those of the request overrule */
function listOverrides(
  { algorithm, numUpdates, seed, initFrom, overrides = {} }: StartRequest,
  own: readonly string[],
): RecipeOverrides {
  const start = initFrom === undefined ? null : assignmentOfPolicy(initFrom);
  const assignments = [...own, ...(start === null ? [] : [start]), ...plainAssignments(overrides)];
  return { algorithm, numUpdates, seed, assignments };
}
