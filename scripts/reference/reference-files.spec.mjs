import { readFileSync } from 'node:fs';
import { listRecipes, resolveRecipe } from '@retrace/config';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { referenceFiles } from './reference-files.mjs';

const files = await referenceFiles();
const schema = JSON.parse(files.find(({ path }) => path.endsWith('.schema.json')).text);
const validate = new Ajv2020({ allErrors: true }).compile(schema);

/** The faults that the schema finds, as "path: message". */
function faultsOf(recipe) {
  validate(recipe);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

describe('the recipe reference', () => {
  it.each(files)('$path is what `npm run reference` writes', ({ path, text }) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('the JSON Schema of a recipe', () => {
  it.each(listRecipes().map(({ name }) => name))('accepts the built-in recipe %s', (name) => {
    expect(faultsOf(JSON.parse(JSON.stringify(resolveRecipe(name))))).toEqual([]);
  });

  it('accepts a recipe that names the schema', () => {
    expect(faultsOf({ $schema: './recipe.schema.json', ...plainBandit() })).toEqual([]);
  });

  it('names the place of a field that is unknown, missing, of another type or out of range', () => {
    const recipe = plainBandit();
    recipe.optimizer = { ...recipe.optimizer, learningRate: 2, epochs: '2', momentum: 0.9 };
    delete recipe.optimizer.beta1;
    expect(faultsOf(recipe)).toEqual([
      "/optimizer: must have required property 'beta1'",
      '/optimizer: must NOT have additional properties',
      '/optimizer/learningRate: must be <= 1',
      '/optimizer/epochs: must be integer',
    ]);
  });
});

function plainBandit() {
  return JSON.parse(JSON.stringify(resolveRecipe('bandit-ppo')));
}
