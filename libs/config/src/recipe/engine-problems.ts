import type { EngineRecipe } from './engine-recipe.js';
import type { Recipe } from './recipe.js';
import { tinkerProblems } from './tinker-problems.js';
import { verlProblems } from './verl-problems.js';

/** The engine that a recipe asks for; TensorFlow.js where it names none. */
export function resolveEngine({ engine }: Pick<Recipe, 'engine'>): EngineRecipe {
  return engine ?? { kind: 'tensorflow' };
}

/** Checks that a recipe asks its engine for nothing that it can't honour. */
export function engineProblems(recipe: Recipe): string[] {
  const { engine } = recipe;
  switch (engine?.kind) {
    case undefined:
    case 'tensorflow':
      return [];
    case 'torch':
      return [...addressProblems(engine), ...unhonoured(recipe), ...verlProblems(recipe)];
    case 'tinker':
      return [...tinkerProblems(recipe), ...unhonoured(recipe)];
  }
}

function addressProblems({ url }: EngineRecipe): string[] {
  if (url === undefined || /^http:\/\/[^/]+\/?$/.test(url)) return [];
  return [`engine.url: got "${url}", must be http://host:port without a path`];
}

/** Fields that say how TensorFlow.js computes. */
function unhonoured({ engine, optimizer, compute }: Recipe): string[] {
  const problems: string[] = [];
  const { kind } = engine ?? { kind: 'tensorflow' };
  const refuse = (field: string, value: unknown, own: keyof EngineRecipe) => {
    const instead = kind === 'torch' ? `set engine.${own} instead` : 'its server decides this by itself';
    problems.push(`${field}: got ${JSON.stringify(value)}, which engine "${kind}" can't honour; ${instead}`);
  };
  if ((optimizer.dataParallel ?? 1) > 1)
    refuse('optimizer.dataParallel', optimizer.dataParallel, 'processes');
  const {
    matMulPrecision = 'float32',
    optimizerOffload = 'device',
    referenceOffload = false,
  } = compute ?? {};
  if (matMulPrecision !== 'float32') refuse('compute.matMulPrecision', matMulPrecision, 'precision');
  if (optimizerOffload !== 'device') refuse('compute.optimizerOffload', optimizerOffload, 'offload');
  if (referenceOffload)
    problems.push(
      `compute.referenceOffload: got true, which engine "${kind}" can't honour; it keeps the reference policy in memory`,
    );
  return problems;
}
