import type { EngineRecipe } from './engine-recipe.js';
import type { Recipe } from './recipe.js';

/** Fields of an engine other than TensorFlow.js. */
const WORKER_FIELDS = [
  'url',
  'tokenFile',
  'processes',
  'python',
  'precision',
  'recomputeLayers',
  'offload',
] as const satisfies readonly (keyof EngineRecipe)[];

/** The engine that a recipe asks for; TensorFlow.js where it names none. */
export function engineOf({ engine }: Pick<Recipe, 'engine'>): EngineRecipe {
  return engine ?? { kind: 'tensorflow' };
}

/** Checks that a recipe asks its engine for nothing that it can't honour. */
export function engineProblems(recipe: Recipe): string[] {
  const { engine } = recipe;
  if (!engine) return [];
  if (engine.kind === 'tensorflow') {
    return WORKER_FIELDS.filter((field) => engine[field] !== undefined).map(
      (field) =>
        `engine.${field}: got ${JSON.stringify(engine[field])}, must be absent where engine.kind is "tensorflow"`,
    );
  }
  return [...addressProblems(engine), ...unhonoured(recipe)];
}

function addressProblems({ url, tokenFile, processes, python }: EngineRecipe): string[] {
  if (url === undefined) {
    return tokenFile === undefined
      ? []
      : [
          'engine.tokenFile: must be absent without engine.url: a worker that the trainer starts gets its own',
        ];
  }
  const problems: string[] = [];
  if (!/^http:\/\/[^/]+\/?$/.test(url))
    problems.push(`engine.url: got "${url}", must be http://host:port without a path`);
  for (const [field, value] of Object.entries({ processes, python })) {
    if (value === undefined) continue;
    problems.push(`engine.${field}: must be absent where engine.url names a worker that runs already`);
  }
  return problems;
}

/** Fields that say how TensorFlow.js computes. */
function unhonoured({ optimizer, compute }: Recipe): string[] {
  const problems: string[] = [];
  const refuse = (field: string, value: unknown, instead: string) =>
    problems.push(`${field}: got ${JSON.stringify(value)}, which engine "torch" can't honour; ${instead}`);
  if ((optimizer.dataParallel ?? 1) > 1)
    refuse('optimizer.dataParallel', optimizer.dataParallel, 'set engine.processes instead');
  const {
    matMulPrecision = 'float32',
    optimizerOffload = 'device',
    referenceOffload = false,
  } = compute ?? {};
  if (matMulPrecision !== 'float32')
    refuse('compute.matMulPrecision', matMulPrecision, 'set engine.precision instead');
  if (optimizerOffload !== 'device')
    refuse('compute.optimizerOffload', optimizerOffload, 'set engine.offload instead');
  if (referenceOffload)
    refuse('compute.referenceOffload', referenceOffload, 'it keeps the reference policy in memory');
  return problems;
}
