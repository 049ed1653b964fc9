import { readFileSync } from 'node:fs';
import { listRecipes, resolveRecipe } from '@retrace/config';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { readRecipeClasses } from './recipe-classes.mjs';
import { valueSchema } from './recipe-schema.mjs';
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

/** Names the bound that a schema lacks; '' where values are of limited size. */
function openEnd({ $ref, type, enum: values, minimum, maximum, maxLength, maxItems, items, anyOf }) {
  if (anyOf) return anyOf.map(openEnd).find((lacking) => lacking !== '') ?? '';
  if ($ref || values || type === 'boolean' || type === 'object') return '';
  if (type === 'integer' || type === 'number') {
    return minimum === undefined || maximum === undefined ? 'a lower and an upper bound' : '';
  }
  if (type === 'string') return maxLength === undefined ? 'a largest length' : '';
  if (type === 'array') return maxItems === undefined ? 'a largest length' : openEnd(items);
  return 'a type';
}

describe('the recipe classes', () => {
  const fields = [...readRecipeClasses()].flatMap(([name, { fields: own }]) =>
    own.map((field) => ({ name: `${name}.${field.name}`, field })),
  );

  it.each(fields)('$name has a type, and bounds where it is a number, a text or a list', ({ field }) => {
    expect(openEnd(valueSchema(field))).toBe('');
  });

  const numbers = fields.filter(({ field }) => valueSchema(field).maximum !== undefined);
  it.each(numbers)('$name says why its bounds are what they are', ({ field: { rules } }) => {
    expect(rules.map(({ context }) => context?.why)).toContainEqual(expect.stringMatching(/./));
  });

  it.each(fields)(
    '$name takes no options without the bounds that hold for all options',
    ({ field: { rules } }) => {
      expect(rules.map(({ name }) => name)).not.toContain('isObject');
    },
  );
});

describe('the page of the recipe', () => {
  const { text } = files.find(({ path }) => path.endsWith('recipe.md'));

  it('folds the fields for experts, and those of objects for experts', () => {
    const folded = [...text.matchAll(/<details>.*?<\/details>/gs)].map(([part]) => part).join('\n');
    const open = text.replace(/<details>.*?<\/details>/gs, '');
    for (const row of ['| `maxTokensPerMicroBatch`', '| `entropyFraction`', '| `spikeFactor`']) {
      expect(folded).toContain(row);
      expect(open).not.toContain(row);
    }
    expect(open).toContain('| `learningRate`');
    expect(folded).not.toContain('| `learningRate`');
  });

  it('says null of no field but those whose words give it a meaning', () => {
    const meaningless = [...readRecipeClasses().values()].flatMap(({ description: ofClass, fields }) =>
      fields.filter(
        ({ isNullable, defaultValue, description }) =>
          isNullable && defaultValue !== 'null' && !/null/i.test(`${ofClass} ${description}`),
      ),
    );
    expect(meaningless.map(({ name }) => name)).toEqual([]);
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
    delete recipe.context.window;
    expect(faultsOf(recipe).sort()).toEqual([
      "/context: must have required property 'window'",
      '/optimizer/epochs: must be integer',
      '/optimizer/learningRate: must be <= 1',
      '/optimizer: must NOT have additional properties',
    ]);
  });
});

function plainBandit() {
  return JSON.parse(JSON.stringify(resolveRecipe('bandit-ppo')));
}
