import { dirname, resolve } from 'node:path';
import { RewardComposer } from '@retrace/rewards';
import { plainToInstance, validateSync, type ValidationError } from '@retrace/validation';
import { withAlgorithm } from '../algorithms/algorithm-presets.js';
import { ConfigError } from '../config-error.js';
import { recipes } from '../recipes/index.js';
import { agentProblems } from '../recipe/agent-problems.js';
import { algorithmProblems } from '../recipe/algorithm-problems.js';
import { assignField } from '../recipe/assign-field.js';
import { dataProblems } from '../recipe/data-problems.js';
import { removeNulls } from '../recipe/declared-fields.js';
import { distillationProblems } from '../recipe/distillation-problems.js';
import { endpointProblems } from '../recipe/endpoint-problems.js';
import { engineProblems } from '../recipe/engine-problems.js';
import { environmentProblems } from '../recipe/environment-problems.js';
import { evaluationProblems } from '../recipe/evaluation-problems.js';
import { listProblems } from '../recipe/list-problems.js';
import { modelProblems } from '../recipe/model-problems.js';
import { movedPath, withPresentFields } from '../recipe/moved-fields.js';
import { isRecord, type PlainObject } from '../recipe/plain-object.js';
import { preferenceProblems } from '../recipe/preference-problems.js';
import { shapeFault } from '../recipe/recipe-shape.js';
import { Recipe } from '../recipe/recipe.js';
import { showText, showValue } from '../recipe/show-value.js';
import { isSiblingRule, withSection } from '../recipe/sibling-rules.js';
import { taskProblems } from '../recipe/task-problems.js';
import { anchorEnvironment, anchorPaths, anchorRewards } from './anchor-paths.js';
import { isRecipeFile, parseRecipeFile } from './recipe-file.js';

const MAX_PROBLEMS = 20;
const MAX_ROUND_EPISODES = 1_000_000;

export interface RecipeOverrides {
  readonly seed?: number;
  readonly numUpdates?: number;
  /** Name of the algorithm that trains it instead of its own. */
  readonly algorithm?: string;
  /** Path of a JSON file with fields that replace those of the recipe; objects are merged field by field. */
  readonly overridesFile?: string;
  /** `path.to.field=value` assignments, in the order in which they are applied; values are JSON, or else strings. */
  readonly assignments?: readonly string[];
  /** Gets a sentence on each field that a file or an assignment names by its former path. */
  readonly warn?: (message: string) => void;
}

export function listRecipes(): readonly { readonly name: string; readonly description: string }[] {
  return Object.entries(recipes).map(([name, create]) => ({ name, description: create().description }));
}

/**
 * Reads the recipe of that name, or in that JSON file, and applies overrides: the algorithm, then the file of overrides, then seed and number of
 * updates, then the assignments.
 *
 * @throws ConfigError `RECIPE_UNKNOWN` for an unknown name or a missing file, `RECIPE_INVALID` naming every bad field, its value and its rule
 */
export function resolveRecipe(nameOrFile: string, overrides: RecipeOverrides = {}): Recipe {
  return resolvePlainRecipe(loadPlain(nameOrFile, overrides), overrides);
}

/**
 * Applies overrides to a recipe as a plain object, such as that of a run.
 *
 * @throws ConfigError `RECIPE_INVALID`
 */
export function resolvePlainRecipe(recipe: unknown, overrides: RecipeOverrides = {}): Recipe {
  let plain = withPresentFields(structuredClone(requireRecord(recipe)));
  if (overrides.algorithm !== undefined) {
    plain = structuredClone(withAlgorithm(parseRecipe(plain), overrides.algorithm)) as unknown as PlainObject;
  }
  if (overrides.overridesFile !== undefined) mergeFields(plain, loadFile(overrides.overridesFile, overrides));
  if (overrides.seed !== undefined) plain.seed = overrides.seed;
  if (overrides.numUpdates !== undefined) {
    plain.numUpdates = overrides.numUpdates;
    delete plain.epochs;
  }
  for (const assignment of overrides.assignments ?? []) {
    const path = assignment.slice(0, Math.max(0, assignment.indexOf('=')));
    const moved = movedPath(path);
    if (moved !== null) overrides.warn?.(`${path} is now ${moved}`);
    const fault = assignField(plain, assignment);
    if (fault !== null) throw invalid(fault);
  }
  anchorPaths(plain, process.cwd());
  return parseRecipe(plain);
}

/**
 * A recipe with other fields.
 *
 * @param assignments `path.to.field=value`; values are JSON, or else strings
 * @throws ConfigError `RECIPE_INVALID`
 */
export function overrideRecipe(recipe: Recipe, assignments: readonly string[]): Recipe {
  const plain = JSON.parse(JSON.stringify(recipe)) as PlainObject;
  for (const assignment of assignments) {
    const fault = assignField(plain, assignment);
    if (fault !== null) throw invalid(fault);
  }
  return parseRecipe(plain);
}

/**
 * Reads an environment as the command line names it: the name of a built-in one, the path of a module, or a JSON file with the value of a
 * recipe's field `environment`, or with a whole recipe.
 *
 * @throws ConfigError `RECIPE_UNKNOWN` for a missing file, `RECIPE_INVALID` naming every bad field
 */
export function resolveEnvironment(nameOrFile: string): Recipe['environment'] {
  if (/\.[mc]?[jt]s$/.test(nameOrFile)) return { module: resolve(nameOrFile) };
  if (!isRecipeFile(nameOrFile)) return nameOrFile;
  const record = requireRecord(parseRecipeFile(nameOrFile, `"${showText(nameOrFile)}"`));
  const environment = 'environment' in record ? record.environment : record;
  if (isRecord(environment)) anchorEnvironment(environment, dirname(resolve(nameOrFile)));
  const context = { ...recipes['bandit-ppo']().context, tokenizer: 'byte' };
  return parseRecipe({ ...recipes['bandit-ppo'](), context, environment }).environment;
}

/**
 * Validates a plain object, as read from a file or from `RunStarted`.
 *
 * @throws ConfigError `RECIPE_INVALID` naming every unknown, missing or bad field
 */
export function parseRecipe(plain: unknown): Recipe {
  const recipe = plainToInstance(Recipe, withPresentFields(requireRecord(plain)));
  removeNulls(recipe);
  const errors = validateSync(recipe, { whitelist: true, forbidNonWhitelisted: true });
  const lists = listProblems(recipe);
  const problems = [...lists, ...errors.flatMap((error) => describe(error, ''))];
  // Each field by itself is as it must be where only rules beside others are broken.
  if (lists.length === 0 && errors.every(breaksOnlySiblingRules))
    problems.push(...crossFieldProblems(recipe));
  if (problems.length === 0) return recipe;
  const others = problems.length - MAX_PROBLEMS;
  const shown = [...problems.slice(0, MAX_PROBLEMS), ...(others > 0 ? [`and ${others} more faults`] : [])];
  throw invalid(`Invalid recipe: ${shown.join('; ')}`);
}

/** Whether it is a whole recipe; the runs of `play`, for example, keep what they were asked for in its place. */
export function isRecipe(plain: unknown): boolean {
  try {
    parseRecipe(plain);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function loadPlain(nameOrFile: string, { warn }: Pick<RecipeOverrides, 'warn'>): PlainObject {
  const create = recipes[nameOrFile];
  if (create) return create() as unknown as PlainObject;
  if (!isRecipeFile(nameOrFile)) {
    throw new ConfigError(
      'RECIPE_UNKNOWN',
      `Unknown recipe "${showText(nameOrFile)}"; use one of ${Object.keys(recipes).join(', ')}, or the path of a .json or .jsonc file`,
    );
  }
  return loadFile(nameOrFile, { warn });
}

/** The fields of a JSON file, with the paths in them made absolute. */
function loadFile(path: string, { warn }: Pick<RecipeOverrides, 'warn'>): PlainObject {
  const plain = withPresentFields(requireRecord(parseRecipeFile(path)), warn);
  delete plain.$schema; // Names the JSON Schema for editors and is no part of the recipe.
  const directory = dirname(resolve(path));
  anchorPaths(plain, directory);
  anchorRewards(plain, directory);
  return plain;
}

/** Replaces fields by those of the same names; objects are merged. */
function mergeFields(target: PlainObject, fields: PlainObject): void {
  for (const [name, value] of Object.entries(fields)) {
    const current = target[name];
    if (isRecord(current) && isRecord(value)) mergeFields(current, value);
    else target[name] = value;
  }
}

function requireRecord(value: unknown): PlainObject {
  // First, since a value of very many levels can't be shown.
  const fault = typeof value === 'object' && value !== null ? shapeFault(value) : null;
  if (fault !== null) throw invalid(`Invalid recipe: ${fault}`);
  if (!isRecord(value)) throw invalid(`Invalid recipe: got ${showValue(value)}, must be an object`);
  return value;
}

function invalid(message: string, options?: ErrorOptions): ConfigError {
  return new ConfigError('RECIPE_INVALID', message, options);
}

function breaksOnlySiblingRules({ constraints = {}, children = [] }: ValidationError): boolean {
  return Object.keys(constraints).every(isSiblingRule) && children.every(breaksOnlySiblingRules);
}

/** Problems of one field and of the fields in it. */
function describe(
  { property, value, constraints = {}, children = [] }: ValidationError,
  prefix: string,
): string[] {
  const path = prefix + showText(property);
  if ('whitelistValidation' in constraints) {
    const moved = movedPath(path);
    return [
      moved === null
        ? `unknown field "${path}"`
        : `${path}: is now ${moved}, which is given too; leave out ${path}`,
    ];
  }
  // Rules that share a message are one rule to the reader. Messages of class-validator begin with the field, which the path names.
  const rules = [...new Set(Object.values(constraints))].map((rule) =>
    rule.startsWith(`${property} `) ? rule.slice(property.length + 1) : rule,
  );
  if (value === undefined && rules.length > 0) return [`"${path}" is required`];
  const own = rules.map((rule) => `${path}: got ${showValue(value)}, ${withSection(rule, prefix)}`);
  return [...own, ...children.flatMap((child) => describe(child, `${path}.`))];
}

/** Rules that need more than one field. */
function crossFieldProblems(recipe: Recipe): string[] {
  const problems = [
    ...environmentProblems(recipe),
    ...taskProblems(recipe),
    ...modelProblems(recipe),
    ...engineProblems(recipe),
    ...endpointProblems(recipe),
    ...agentProblems(recipe),
    ...rewardProblems(recipe),
    ...algorithmProblems(recipe),
    ...preferenceProblems(recipe),
    ...distillationProblems(recipe),
    ...dataProblems(recipe),
    ...evaluationProblems(recipe),
  ];
  const { collection, optimizer } = recipe;
  const numEpisodes = collection.groupsPerRound * collection.groupSize;
  if (numEpisodes > MAX_ROUND_EPISODES) {
    problems.push(
      `collection.groupsPerRound: got ${collection.groupsPerRound}, with groupSize ${collection.groupSize} a round has ${numEpisodes.toLocaleString('en')} episodes, must have at most ${MAX_ROUND_EPISODES.toLocaleString('en')}: an update holds its round in memory`,
    );
  }
  if (optimizer.warmupFraction > optimizer.decayStartFraction) {
    problems.push(
      `optimizer.warmupFraction: got ${optimizer.warmupFraction}, must not exceed decayStartFraction (${optimizer.decayStartFraction})`,
    );
  }
  return problems;
}

/** Checks that the components exist, differ in name, and take their options. Modules are checked when they are loaded. */
function rewardProblems({ reward }: Recipe): string[] {
  try {
    for (const { reward: name, module } of reward.components) {
      if ((name === undefined) === (module === undefined)) {
        throw new Error('a component must have either reward or module');
      }
    }
    const known = reward.components.filter(({ module }) => module === undefined);
    if (known.length > 0) new RewardComposer(known);
    return [];
  } catch (error) {
    return [`reward.components: ${(error as Error).message}`];
  }
}
