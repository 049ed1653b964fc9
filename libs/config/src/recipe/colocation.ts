import { needsCollector, needsValidator } from './data-problems.js';
import { resolveEngine } from './engine-problems.js';
import type { Recipe } from './recipe.js';

/**
 * Whether trainer and collector of a run are one process. Where they take turns, one process loses nothing: it starts one TensorFlow, has one set of
 * weights, and no weights go through files. Where they overlap, two processes use two processors.
 */
export function isColocated(recipe: Recipe, numCollectors: number): boolean {
  if (!needsCollector(recipe) || numCollectors !== 1) return false;
  return recipe.process?.colocate ?? takeTurns(recipe);
}

function takeTurns({ collection, sampler, ...recipe }: Recipe): boolean {
  if (collection.maxStaleness > 0 || sampler?.limiter) return false;
  return !collection.endpoint && resolveEngine(recipe).kind === 'tensorflow';
}

/** Up to so many processors, the process of a small policy also validates. */
const FEW_PROCESSORS = 2;

/** Whether the process that is trainer and collector of a run is its validator too, on a machine with so many processors. */
export function isValidatorColocated(recipe: Recipe, numCollectors: number, numProcessors: number): boolean {
  if (!isColocated(recipe, numCollectors) || !needsValidator(recipe)) return false;
  return recipe.process?.colocateValidator ?? (numProcessors <= FEW_PROCESSORS && isSmall(recipe));
}

/** Whether the policy begins with random weights and plays a built-in environment, so that its validations are short and share no state with rounds. */
function isSmall({ policy, environment, tasks }: Recipe): boolean {
  return !policy?.model && typeof environment === 'string' && !tasks;
}
