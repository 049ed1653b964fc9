import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RewardComposer } from '@retrace/rewards';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { ConfigError } from '../config-error.js';
import { recipes } from '../recipes/index.js';
import { algorithmProblems } from './algorithm-problems.js';
import { modelProblems } from './model-problems.js';
import { Recipe } from './recipe.js';

type PlainObject = Record<string, unknown>;

export interface RecipeOverrides {
  readonly seed?: number;
  readonly numUpdates?: number;
  /** `path.to.field=value` assignments; values are JSON, or else strings. */
  readonly assignments?: readonly string[];
}

export function listRecipes(): readonly { readonly name: string; readonly description: string }[] {
  return Object.entries(recipes).map(([name, create]) => ({ name, description: create().description }));
}

/**
 * Reads the recipe of that name, or in that JSON file, and applies overrides.
 *
 * @throws ConfigError `RECIPE_UNKNOWN` for an unknown name or a missing file, `RECIPE_INVALID` naming every bad field, its value and its rule
 */
export function resolveRecipe(nameOrFile: string, overrides: RecipeOverrides = {}): Recipe {
  const plain = structuredClone(loadPlain(nameOrFile));
  if (overrides.seed !== undefined) plain.seed = overrides.seed;
  if (overrides.numUpdates !== undefined) plain.numUpdates = overrides.numUpdates;
  for (const assignment of overrides.assignments ?? []) assign(plain, assignment);
  anchorModel(plain, process.cwd());
  return parseRecipe(plain);
}

/**
 * Validates a plain object, as read from a file or from `RunStarted`.
 *
 * @throws ConfigError `RECIPE_INVALID` naming every unknown, missing or bad field
 */
export function parseRecipe(plain: unknown): Recipe {
  const recipe = plainToInstance(Recipe, requireRecord(plain));
  const problems = validateSync(recipe, { whitelist: true, forbidNonWhitelisted: true }).flatMap((error) =>
    describe(error, ''),
  );
  if (problems.length === 0) problems.push(...crossFieldProblems(recipe));
  if (problems.length > 0) throw invalid(`Invalid recipe: ${problems.join('; ')}`);
  return recipe;
}

/** SHA-256 over the recipe's canonical JSON (keys sorted), hex. */
export function recipeHash(recipe: Recipe): string {
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(recipe)))
    .digest('hex');
}

function loadPlain(nameOrFile: string): PlainObject {
  const create = recipes[nameOrFile];
  if (create) return create() as unknown as PlainObject;
  if (!nameOrFile.endsWith('.json')) {
    throw new ConfigError(
      'RECIPE_UNKNOWN',
      `Unknown recipe "${nameOrFile}"; use one of ${Object.keys(recipes).join(', ')}, or the path of a .json file`,
    );
  }
  if (!existsSync(nameOrFile)) {
    throw new ConfigError('RECIPE_UNKNOWN', `Recipe file "${nameOrFile}" not found`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(nameOrFile, 'utf8'));
  } catch (cause) {
    throw invalid(`Recipe file "${nameOrFile}" is not valid JSON: ${(cause as Error).message}`, { cause });
  }
  const plain = requireRecord(parsed);
  delete plain.$schema; // Names the JSON Schema for editors and is no part of the recipe.
  const directory = dirname(resolve(nameOrFile));
  anchorModules(plain, directory);
  anchorModel(plain, directory);
  return plain;
}

/** Paths of reward modules become absolute, since a run is trained, replayed and scored from other directories. */
function anchorModules(plain: PlainObject, directory: string): void {
  const components = isRecord(plain.reward) ? plain.reward.components : undefined;
  if (!Array.isArray(components)) return;
  for (const component of components as unknown[]) {
    if (isRecord(component) && typeof component.module === 'string') {
      component.module = resolve(directory, component.module);
    }
  }
}

/** The path of the model becomes absolute, for the same reason. */
function anchorModel({ policy }: PlainObject, directory: string): void {
  if (isRecord(policy) && typeof policy.model === 'string' && policy.model !== '') {
    policy.model = resolve(directory, policy.model);
  }
}

function assign(target: PlainObject, assignment: string): void {
  const equals = assignment.indexOf('=');
  if (equals < 1) {
    throw invalid(`--set: got "${assignment}", must be key=value, as in optimizer.learningRate=0.001`);
  }
  const path = assignment.slice(0, equals).split('.');
  const text = assignment.slice(equals + 1);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = text;
  }
  const last = path.pop() as string;
  let node: unknown = target;
  for (const key of path) node = isRecord(node) ? node[key] : undefined;
  if (!isRecord(node) || !(last in node)) {
    const known = isRecord(node) ? `; the fields here are ${Object.keys(node).join(', ')}` : '';
    throw invalid(`--set ${assignment}: unknown field "${[...path, last].join('.')}"${known}`);
  }
  node[last] = value;
}

function requireRecord(value: unknown): PlainObject {
  if (isRecord(value)) return value;
  throw invalid(`Invalid recipe: got ${JSON.stringify(value)}, must be an object`);
}

function invalid(message: string, options?: ErrorOptions): ConfigError {
  return new ConfigError('RECIPE_INVALID', message, options);
}

function isRecord(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Problems of one field and of the fields in it. */
function describe(
  { property, value, constraints = {}, children = [] }: ValidationError,
  prefix: string,
): string[] {
  const path = prefix + property;
  const rules = Object.entries(constraints);
  if ('whitelistValidation' in constraints) return [`unknown field "${path}"`];
  if (value === undefined && rules.length > 0) return [`"${path}" is required`];
  // The rules of class-validator begin with the name of the field, which the path says already.
  const own = rules.map(
    ([, rule]) => `${path}: got ${JSON.stringify(value)}, ${rule.replace(`${property} `, '')}`,
  );
  return [...own, ...children.flatMap((child) => describe(child, `${path}.`))];
}

/** Rules that need more than one field. */
function crossFieldProblems(recipe: Recipe): string[] {
  const problems = modelProblems(recipe);
  const { optimizer, evaluation } = recipe;
  problems.push(...rewardProblems(recipe), ...algorithmProblems(recipe));
  if (optimizer.warmupFraction > optimizer.decayStartFraction) {
    problems.push(
      `optimizer.warmupFraction: got ${optimizer.warmupFraction}, must not exceed decayStartFraction (${optimizer.decayStartFraction})`,
    );
  }
  if (evaluation.everyUpdates > 0 && evaluation.numValidationEpisodes === 0) {
    problems.push(
      'evaluation.numValidationEpisodes: got 0, must be positive where evaluation.everyUpdates is',
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

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sortKeys(entry)]),
  );
}
