import type { EngineRecipe } from './engine-recipe.js';
import type { Recipe } from './recipe.js';
import { tinkerProblems } from './tinker-problems.js';
import { verlProblems } from './verl-problems.js';

/** Fields of an engine other than TensorFlow.js. */
const WORKER_FIELDS = [
  'url',
  'tokenFile',
  'processes',
  'python',
  'precision',
  'recomputeLayers',
  'offload',
  'shardedCheckpoints',
  'backend',
  'options',
] as const satisfies readonly (keyof EngineRecipe)[];

/** Fields that a server of the Tinker API decides by itself. */
const NOT_OF_SERVERS = [
  'processes',
  'python',
  'precision',
  'peakFlops',
  'recomputeLayers',
  'offload',
  'shardedCheckpoints',
  'backend',
  'options',
] as const satisfies readonly (keyof EngineRecipe)[];

/** The engine that a recipe asks for; TensorFlow.js where it names none. */
export function engineOf({ engine }: Pick<Recipe, 'engine'>): EngineRecipe {
  return engine ?? { kind: 'tensorflow' };
}

/** Checks that a recipe asks its engine for nothing that it can't honour. */
export function engineProblems(recipe: Recipe): string[] {
  const { engine } = recipe;
  switch (engine?.kind) {
    case undefined:
      return [];
    case 'tensorflow':
      return absentFields(engine, [...WORKER_FIELDS, 'baseModel']);
    case 'torch':
      return [
        ...absentFields(engine, ['baseModel']),
        ...addressProblems(engine),
        ...unhonoured(recipe),
        ...verlProblems(recipe),
      ];
    case 'tinker':
      return [...absentFields(engine, NOT_OF_SERVERS), ...tinkerProblems(recipe), ...unhonoured(recipe)];
  }
}

function absentFields(engine: EngineRecipe, fields: readonly (keyof EngineRecipe)[]): string[] {
  return fields
    .filter((field) => engine[field] !== undefined)
    .map(
      (field) =>
        `engine.${field}: got ${JSON.stringify(engine[field])}, must be absent where engine.kind is "${engine.kind}"`,
    );
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
