import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recipeHash, requestHash } from '../resolve/recipe-hash.js';
import { overrideRecipe, parseRecipe, resolvePlainRecipe, resolveRecipe } from '../resolve/resolve-recipe.js';
import { plainAssignments } from './plain-overrides.js';
import { recipeDifferences } from './recipe-differences.js';

interface Golden {
  readonly recorded: readonly {
    readonly recipeHash: string;
    readonly requestHash: string;
    readonly recipe: object;
  }[];
  readonly hashes: Readonly<Record<string, string>>;
}

const golden = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../../test/golden/recipes/${name}`, import.meta.url), 'utf8'));
const { recorded, hashes } = golden('before-kl-object.json') as Golden;
const withoutKl = golden('without-kl.json') as {
  readonly recipe: object;
  readonly hashes: Readonly<Record<string, string>>;
};
const withNulls = golden('with-nulls.json') as { readonly file: object; readonly recipe: object };

const MOVED = [
  ['klCoefficient', 'coefficient', 0.25],
  ['klIn', 'in', 'loss'],
  ['klEstimator', 'estimator', 'k1'],
  ['klStraightThrough', 'straightThrough', true],
  ['klBiasCorrection', 'biasCorrection', true],
  ['adaptiveKl', 'adaptive', { target: 0.5, horizon: 16 }],
] as const;

describe('a recorded recipe with the KL in six fields', () => {
  it.each(recorded)('is read with the hash that its run recorded: $recipeHash', (run) => {
    const recipe = parseRecipe(run.recipe);
    expect(recipeHash(recipe)).toBe(run.recipeHash);
    expect(requestHash(recipe)).toBe(run.requestHash);
    expect(recipeHash(parseRecipe(JSON.parse(JSON.stringify(recipe))))).toBe(run.recipeHash);
  });

  it('has them in its object kl, and permutes advantages where it did', () => {
    expect(parseRecipe(recorded[1].recipe).loss.kl).toEqual({
      ...{ coefficient: 0.1, in: 'loss', estimator: 'k2', straightThrough: true, biasCorrection: true },
      adaptive: { target: 0.02, horizon: 10_000 },
    });
    expect(parseRecipe(recorded[2].recipe)).toMatchObject({
      loss: { kl: { coefficient: 0.05, in: 'reward' } },
      advantage: { shuffle: true },
    });
  });

  it('differs in no field from the same recipe of today', () => {
    expect(
      recipeDifferences(recorded[0].recipe as Record<string, unknown>, parseRecipe(recorded[0].recipe)),
    ).toEqual([]);
  });
});

it.each(Object.entries(hashes))(
  'the built-in recipe %s has the hash that its runs recorded',
  (name, hash) => {
    const assignments = resolveRecipe(name).policy ? ['policy.model=/model'] : [];
    expect(recipeHash(resolveRecipe(name, { assignments }))).toBe(hash);
  },
);

it.each(Object.entries(withoutKl.hashes))(
  'a recipe without a KL has with the algorithm %s the hash that its runs recorded',
  (algorithm, hash) => {
    expect(recipeHash(resolvePlainRecipe(withoutKl.recipe, { algorithm }))).toBe(hash);
  },
);

it('a recorded recipe with null where it says nothing is the recipe of its file today, and differs from it in no field', () => {
  const ofFile = parseRecipe(withNulls.file);
  expect(recipeHash(parseRecipe(withNulls.recipe))).toBe(recipeHash(ofFile));
  expect(recipeDifferences(withNulls.recipe as Record<string, unknown>, ofFile)).toEqual([]);
  expect(ofFile.agent).toEqual({ toolsInChatTemplate: false });
});

describe('a field of the KL in its former place', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-moved-'));
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  const write = (recipe: object) => {
    const path = join(directory, 'mine.json');
    writeFileSync(path, JSON.stringify(recipe));
    return path;
  };
  const plain = resolveRecipe('frozen-lake-grpo');
  const { kl: _, ...loss } = plain.loss;

  it.each(MOVED)('is read from a file, with a warning: loss.%s as loss.kl.%s', (former, present, value) => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const path = write({ ...plain, loss: { ...loss, klCoefficient: 0.1, [former]: value } });
    expect(resolveRecipe(path, { warn }).loss.kl).toMatchObject({ coefficient: 0.1, [present]: value });
    expect(warnings).toContain(`loss.${former} is now loss.kl.${present}`);
  });

  it.each(MOVED)('is assigned: loss.%s as loss.kl.%s, and keeps the others', (former, present, value) => {
    const assignments = ['loss.kl.coefficient=0.1', `loss.${former}=${JSON.stringify(value)}`];
    const { kl } = resolveRecipe('frozen-lake-grpo', { assignments }).loss;
    expect(kl).toMatchObject({ ...plain.loss.kl, coefficient: 0.1, [present]: value });
    expect(overrideRecipe(plain, assignments).loss.kl).toEqual(kl);
    const warnings: string[] = [];
    resolveRecipe('frozen-lake-grpo', { assignments, warn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringMatching(`^loss\\.${former} is now loss\\.kl\\.${present}$`)]);
  });

  it('may be overridden by a caller of the API, as its present one', () => {
    const overrides = { 'loss.klEstimator': 'k1', 'loss.kl.in': 'reward', 'loss.adaptiveKl.target': 0.1 };
    expect(plainAssignments(overrides)).toEqual([
      'loss.klEstimator="k1"',
      'loss.kl.in="reward"',
      'loss.adaptiveKl.target=0.1',
    ]);
  });

  it.each([
    [{ 'loss.klIn': 'loss', 'loss.kl.in': 'reward' }, 'loss.kl.in'],
    [{ 'loss.kl': null, 'loss.klCoefficient': 0.1 }, 'loss.kl'],
    [{ 'loss.adaptiveKl': null, 'loss.kl.adaptive.target': 0.1 }, 'loss.kl.adaptive.target'],
  ])('may not be overridden by a caller of the API beside its present one: %j', (overrides, other) => {
    expect(() => plainAssignments(overrides)).toThrow(`and ${other} is given too; leave out loss.`);
  });

  it('is merged from a file of overrides', () => {
    const overridesFile = write({ loss: { klCoefficient: 0.5 } });
    expect(resolveRecipe('frozen-lake-grpo', { overridesFile }).loss.kl).toMatchObject({
      coefficient: 0.5,
      estimator: 'k3',
    });
  });

  it('has a weight of 0 where a file gives none', () => {
    const { kl } = resolveRecipe(write({ ...plain, loss: { ...loss, klEstimator: 'k1' } })).loss;
    expect(kl).toMatchObject({ coefficient: 0, estimator: 'k1' });
  });

  it('is refused beside its present place, naming both', () => {
    expect(() =>
      resolveRecipe(
        write({ ...plain, loss: { ...loss, klIn: 'loss', kl: { coefficient: 1, in: 'reward' } } }),
      ),
    ).toThrow('loss.klIn: is now loss.kl.in, which is given too; leave out loss.klIn');
  });

  it.each([null, 0.1, 'none'])('is refused beside a kl that is no object: %j', (kl) => {
    expect(() => resolveRecipe(write({ ...plain, loss: { ...loss, klIn: 'loss', kl } }))).toThrow(
      'loss.klIn: is now loss.kl.in',
    );
  });

  it('with a bad value is refused under its present name', () => {
    expect(() => resolveRecipe('frozen-lake-grpo', { assignments: ['loss.klCoefficient=-1'] })).toThrow(
      'loss.kl.coefficient: got -1, must be a number from 0 to 100',
    );
  });
});
