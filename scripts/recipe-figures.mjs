/** Prints how many fields a recipe has and, with `--fields`, of each field how many built-in recipes set it: `node scripts/recipe-figures.mjs`. */
import { listRecipes, resolveRecipe } from '@retrace/config';
import { readRecipeClasses } from './reference/recipe-classes.mjs';
import { isRequired } from './reference/recipe-schema.mjs';

const classes = readRecipeClasses();
const recipes = listRecipes().map(({ name }) => JSON.parse(JSON.stringify(resolveRecipe(name))));
const fields = [...fieldsOf('Recipe', '', recipes)];
const figures = {
  classes: classes.size,
  fields: [...classes.values()].reduce((sum, { fields: own }) => sum + own.length, 0),
  'fields by path, as InitRecipe is used twice': fields.length,
  required: fields.filter(({ field }) => isRequired(field)).length,
  'with a default': fields.filter(({ field }) => !isRequired(field)).length,
  'may be null': fields.filter(({ field }) => field.isNullable).length,
  'for experts': fields.filter(({ isAdvanced }) => isAdvanced).length,
  'for every reader': fields.filter(({ isAdvanced }) => !isAdvanced).length,
  'that no built-in recipe sets': fields.filter(({ numRecipes }) => numRecipes === 0).length,
};
for (const [name, value] of Object.entries(figures)) console.log(`${value}\t${name}`);
if (process.argv.includes('--fields')) {
  for (const { path, field, isAdvanced, numRecipes } of fields) {
    const kind = isRequired(field) ? 'required' : field.isNullable ? 'null' : 'default';
    console.log([path, kind, isAdvanced ? 'expert' : '', `${numRecipes} of ${recipes.length}`].join('\t'));
  }
}

/** Each field below a class with its path, in how many of the values it is set, and whether it or a section around it is for experts. */
function* fieldsOf(className, prefix, values, isInside = false) {
  for (const field of classes.get(className).fields) {
    const path = `${prefix}${field.name}`;
    const isAdvanced = isInside || field.isAdvanced;
    const own = values.map((value) => value?.[field.name] ?? null);
    yield { path, field, isAdvanced, numRecipes: own.filter((value) => value !== null).length };
    if (!field.nested) continue;
    const inner = own.map((value) => (Array.isArray(value) ? value[0] : value));
    yield* fieldsOf(field.nested, `${path}.`, inner, isAdvanced);
  }
}
