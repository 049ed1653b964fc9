import { ConfigError } from '../config-error.js';
import { recipes } from '../recipes/index.js';
import { isWordField } from '../recipe/assign-field.js';
import { isRecord } from '../recipe/plain-object.js';
import type { Recipe } from '../recipe/recipe.js';
import { resolveRecipe } from './resolve-recipe.js';
import { showText } from '../recipe/show-value.js';

/**
 * Fields with a text that names neither code, a program, a server, a query nor a file of tasks: names of what is built in or stored, texts for the model, and
 * directories that are read as weights. A field that ends with a dot stands for all options below it, which only something built in reads.
 */
const INSIDE_FIELDS: readonly string[] = [
  ...['name', 'description', 'environment', 'environment.name', 'environment.options.', 'imitation.agent'],
  ...['context.stopStrings', 'sampler.priority', 'sampler.curriculum.family'],
  ...['agent.format', 'agent.tools.', 'agent.systemTemplate', 'agent.firstUserTemplate'],
  ...['agent.userTemplate', 'agent.summaryTemplate', 'agent.taskMarker', 'agent.options.'],
  ...['policy.model', 'policy.adapter', 'policy.critic', 'distillation.teacher.model'],
  ...['distillation.teacher.fingerprint', 'distillation.teacher.policy.', 'initFrom.'],
  ...['data.sources.run', 'data.sources.dataset', 'data.sources.contents.'],
  ...['advantage.estimator', 'advantage.options.', 'loss.policyLoss', 'loss.policyLossOptions.'],
  ...['reward.components.reward', 'reward.components.name', 'reward.components.options.'],
  ...['reward.components.sources', 'reward.sourceField'],
];
/** Options of built-in rewards that name a server, or a variable whose value it is sent. */
const SERVER_OPTIONS: readonly string[] = ['endpoint', 'apiKeyVariable'];

interface FieldText {
  readonly path: readonly string[];
  /** A text, or a list with one. */
  readonly value: unknown;
}

/**
 * Requires that a recipe which was stored, and may be that of an imported run, names no code, program, server, query or file of tasks but as a built-in recipe does.
 *
 * @throws ConfigError `RECIPE_INVALID` naming the field, its value and the rule
 */
export function requireInside(recipe: Recipe): void {
  const outside = readTexts(JSON.parse(JSON.stringify(recipe)), []).filter(({ path }) => !isInside(path));
  if (outside.length === 0) return;
  const builtIn = Object.keys(recipes).map((name) => resolveRecipe(name));
  for (const { path, value } of outside) {
    const text = JSON.stringify(value);
    if (builtIn.some((one) => JSON.stringify(valueAt(one, path)) === text)) continue;
    throw new ConfigError(
      'RECIPE_INVALID',
      `${showText(path.join('.'))}: got ${showText(text)}, must be as in a built-in recipe: it can name code, a program, a server, a query or a file, which only the command line takes`,
    );
  }
}

/** The texts below a node. A list with a text counts as one value, so that no two built-in lists make a third. */
function readTexts(node: unknown, path: readonly string[]): FieldText[] {
  if (typeof node === 'string' || (Array.isArray(node) && node.some((item) => typeof item === 'string')))
    return [{ path, value: node }];
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, inner]) => readTexts(inner, [...path, name]));
}

function isInside(path: readonly string[]): boolean {
  // A place in a list is no name of a field.
  const names = path.filter((name) => !/^\d+$/.test(name));
  const field = names.join('.');
  if (field.startsWith('reward.') && SERVER_OPTIONS.includes(names.at(-1) ?? '')) return false;
  const isNamed = INSIDE_FIELDS.some((one) => (one.endsWith('.') ? field.startsWith(one) : field === one));
  return isNamed || isWordField(names);
}

function valueAt(recipe: Recipe, path: readonly string[]): unknown {
  let node: unknown = recipe;
  for (const name of path) node = isRecord(node) || Array.isArray(node) ? (node as never)[name] : undefined;
  return node;
}
