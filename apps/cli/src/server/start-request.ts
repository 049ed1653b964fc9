import {
  listRecipes,
  plainAssignments,
  resolvePlainRecipe,
  resolveRecipe,
  type Recipe,
} from '@retrace/config';
import type { StartRequest } from '@retrace/process';
import type { ControlFold } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { completeInit } from '../run/complete-init.js';
import { selectRun } from '../run/find-run.js';
import { checkTrainingRecipe, overridesOf } from '../run/training-recipe.js';

const POLICY_OF_RUN = /^run:[A-Za-z0-9][A-Za-z0-9._-]{0,199}(@(latest|best|\d{1,15}))?$/;

const RECIPE_OF_RUN = /^run:([A-Za-z0-9][A-Za-z0-9._-]{0,95})$/;

/**
 * Checks what a caller of the API asks to be trained, who may name nothing but what is built in and stored: neither code, files, programs nor servers.
 * Where it names a run by its recipe, that run and the policy to start from must be in the log.
 *
 * @param readState the log's control stream; read only where a run is named
 * @throws ConfigError `RECIPE_INVALID`; CliError `OPTION_INVALID`; both name the field
 */
export async function requireStart(
  start: StartRequest,
  readState: () => Promise<ControlFold>,
): Promise<Recipe> {
  requireNames(start);
  const [, run] = RECIPE_OF_RUN.exec(start.recipe) ?? [];
  if (run === undefined) return resolveRecipe(start.recipe, overridesOf(optionsOf(start), []));
  const state = await readState();
  // The policies of the run have imitated already.
  const overrides = overridesOf(optionsOf(start), ['imitation=null']);
  const recipe = resolvePlainRecipe(recipeOfRun(state, start.recipe, run), overrides);
  if (start.initFrom !== undefined) ofField('initFrom', start.initFrom, () => completeInit(recipe, state));
  return recipe;
}

/** The same, with everything that a run needs to know before it begins. @throws as `requireStart` and `checkTrainingRecipe` */
export async function recipeOfStart(
  start: StartRequest,
  readState: () => Promise<ControlFold>,
): Promise<Recipe> {
  return checkTrainingRecipe(await requireStart(start, readState));
}

function recipeOfRun(state: ControlFold, recipe: string, wanted: string): unknown {
  const { started } = ofField('recipe', recipe, () => selectRun(state.runs, wanted));
  if (started.runKind === 'trained' && started.recipe !== null) return started.recipe;
  throw refusal('recipe', recipe, 'the run must be one that was trained here, not a recorded one');
}

/** Names the field of a request in what is refused about it. */
function ofField<Found>(field: keyof StartRequest, value: string, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof CliError) throw refusal(field, value, error.message);
    throw error;
  }
}

function refusal(field: keyof StartRequest, value: string, rule: string): CliError {
  return new CliError('OPTION_INVALID', `${field}: got ${JSON.stringify(value)}, ${rule}`);
}

function requireNames({ recipe, initFrom }: StartRequest): void {
  const names = listRecipes().map(({ name }) => name);
  if (!names.includes(recipe) && !RECIPE_OF_RUN.test(recipe)) {
    const rule = `must be one of the built-in recipes ${names.join(', ')}, or "run:<run>" for that of a trained run`;
    throw refusal('recipe', recipe, rule);
  }
  if (initFrom !== undefined && !POLICY_OF_RUN.test(initFrom))
    throw refusal('initFrom', initFrom, 'must be "run:<run>", "run:<run>@<version>" or "run:<run>@best"');
}

function optionsOf({ algorithm, numUpdates, seed, initFrom, overrides = {} }: StartRequest) {
  return { algorithm, updates: numUpdates, seed, initFrom, set: plainAssignments(overrides) };
}
