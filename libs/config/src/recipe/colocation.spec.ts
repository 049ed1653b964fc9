import { describe, expect, it } from 'vitest';
import { isColocated, isValidatorColocated } from './colocation.js';
import { recipeHash, requestHash } from '../resolve/recipe-hash.js';
import { resolveRecipe } from '../resolve/resolve-recipe.js';

const recipeOf = (...assignments: string[]) => resolveRecipe('bandit-ppo', { assignments });
const LIMITER = 'sampler={"rule":"fifo","limiter":{"samplesPerInsert":1,"minDiff":0,"maxDiff":1024}}';

describe('isColocated', () => {
  it('is so where trainer and one collector take turns', () => {
    expect(isColocated(recipeOf(), 1)).toBe(true);
    expect(isColocated(recipeOf(), 2)).toBe(false);
    expect(isColocated(recipeOf('collection.maxStaleness=1'), 1)).toBe(false);
    expect(isColocated(recipeOf('engine.kind=torch'), 1)).toBe(false);
    const { collection, ...others } = recipeOf();
    const endpoint = { kind: 'vllm', url: 'http://127.0.0.1:8000' } as const;
    expect(isColocated({ ...others, collection: { ...collection, endpoint } }, 1)).toBe(false);
    expect(isColocated(recipeOf(LIMITER), 1)).toBe(false);
  });

  it('is as the recipe says, where there is one collector', () => {
    expect(isColocated(recipeOf('process.colocate=false'), 1)).toBe(false);
    expect(isColocated(recipeOf('process.colocate=true', 'collection.maxStaleness=1'), 1)).toBe(true);
    expect(isColocated(recipeOf('process.colocate=true'), 2)).toBe(false);
    const offline = { sources: [{ from: 'run', run: 'latest', share: 1 }] };
    expect(isColocated(recipeOf('process.colocate=true', `data=${JSON.stringify(offline)}`), 1)).toBe(false);
  });

  it('is no part of the hashes of a recipe, so that a run may go on in other processes', () => {
    const [plain, apart] = [recipeOf(), recipeOf('process.colocate=false')];
    expect(recipeHash(apart)).toBe(recipeHash(plain));
    expect(requestHash(apart)).toBe(requestHash(plain));
  });

  it('must be true or false', () => {
    expect(() => recipeOf('process.colocate=maybe')).toThrow('process.colocate: got "maybe", must be');
    expect(() => recipeOf('process.threads=2')).toThrow('process.threads');
  });
});

describe('isValidatorColocated', () => {
  it('is so on a machine with few processors, where trainer and collector are one process and the environment is built in', () => {
    expect(isValidatorColocated(recipeOf(), 1, 2)).toBe(true);
    expect(isValidatorColocated(recipeOf(), 1, 3)).toBe(false);
    expect(isValidatorColocated(recipeOf('process.colocate=false'), 1, 1)).toBe(false);
    const module = `environment=${JSON.stringify({ module: './mine.js' })}`;
    expect(isValidatorColocated(recipeOf(module), 1, 2)).toBe(false);
    expect(isValidatorColocated(recipeOf(module, 'process.colocateValidator=true'), 1, 2)).toBe(true);
    const none = ['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'];
    expect(isValidatorColocated(recipeOf(...none), 1, 1)).toBe(false);
  });

  it('is as the recipe says, which is no part of its hash', () => {
    expect(isValidatorColocated(recipeOf('process.colocateValidator=true'), 1, 64)).toBe(true);
    const apart = recipeOf('process.colocateValidator=false');
    expect(isValidatorColocated(apart, 1, 1)).toBe(false);
    expect(isValidatorColocated(recipeOf('process.colocateValidator=true'), 2, 1)).toBe(false);
    expect(recipeHash(apart)).toBe(recipeHash(recipeOf()));
  });
});
