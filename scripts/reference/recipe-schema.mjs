/** Makes the JSON Schema of a recipe file from the recipe classes. */
import { listAdvantageEstimators, listPolicyLosses } from '@retrace/algorithms';
import { listEnvironments } from '@retrace/environments';
import { listRewards } from '@retrace/rewards';

/** Keywords of JSON Schema for each rule of class-validator. A rule without an entry is an error, so that none is forgotten. */
const KEYWORDS = {
  isDefined: () => ({}),
  isString: () => ({ type: 'string' }),
  isLength: ([minLength, maxLength]) => ({ ...(minLength > 0 && { minLength }), maxLength }),
  matches: ([pattern]) => ({ pattern: pattern.source }),
  isBoolean: () => ({ type: 'boolean' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
  isIn: ([values]) => ({ enum: values }),
  isOptions: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  arrayMinSize: ([minItems]) => (minItems > 0 ? { minItems } : {}),
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  isDivisibleBy: ([multipleOf]) => ({ multipleOf }),
  // Rules on other fields of the object, which JSON Schema says less well than the words of the field.
  onlyWhere: () => ({}),
  onlyWith: () => ({}),
  notWith: () => ({}),
  hasPlaceholders: () => ({}),
  arrayUnique: () => ({ uniqueItems: true }),
};

/** Names that an editor suggests for a string; recipes may use others where the libraries have been extended. */
const SUGGESTIONS = {
  'Recipe.environment': listEnvironments().map(({ name }) => name),
  'RewardComponentRecipe.reward': listRewards(),
  'AdvantageRecipe.estimator': listAdvantageEstimators(),
  'LossRecipe.policyLoss': listPolicyLosses(),
};

/** The JSON Schema (2020-12) of a recipe file. */
export function recipeSchema(classes) {
  const definitions = [...classes].map(([name, type]) => [name, classSchema(name, type)]);
  const { Recipe, ...$defs } = Object.fromEntries(definitions);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Retrace recipe',
    ...Recipe,
    properties: {
      $schema: { type: 'string', description: 'This schema, for editors; Retrace ignores it.' },
      ...Recipe.properties,
    },
    $defs,
  };
}

/** Whether a recipe must have the field: it has no default, and leaving it out means nothing. */
export function isRequired({ isOptional, defaultValue }) {
  return !isOptional && defaultValue === undefined;
}

/** The rules of a field as keywords of JSON Schema; those of an array's elements are under `items`. */
export function valueSchema({ name, nested, orName, rules }) {
  if (orName) {
    const { maxLength, pattern } = rules.find(({ type }) => type === 'nestedValidation').context;
    return { anyOf: [{ type: 'string', maxLength, pattern: pattern.source }, { $ref: `#/$defs/${nested}` }] };
  }
  const isNestedArray = nested && rules.some(({ name: rule }) => rule === 'isArray');
  const schema = nested && !isNestedArray ? { $ref: `#/$defs/${nested}` } : {};
  if (isNestedArray) schema.items = { $ref: `#/$defs/${nested}` };
  for (const { name: rule, type, constraints, each } of rules) {
    if (type === 'nestedValidation' || rule === 'isOptional') continue;
    if (!KEYWORDS[rule]) throw new Error(`${name}: the rule ${rule} has no keyword in recipe-schema.mjs`);
    const keywords = KEYWORDS[rule](constraints ?? []);
    if (each) schema.items = { ...schema.items, ...keywords };
    else Object.assign(schema, keywords);
  }
  return schema;
}

function classSchema(name, { description, fields }) {
  return {
    description,
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(name, field)])),
    required: fields.filter(isRequired).map((field) => field.name),
    additionalProperties: false,
  };
}

function fieldSchema(className, field) {
  const { name, description, defaultValue } = field;
  const schema = valueSchema(field);
  return {
    description,
    ...(defaultValue !== undefined && { default: JSON.parse(defaultValue) }),
    ...(SUGGESTIONS[`${className}.${name}`] && { examples: SUGGESTIONS[`${className}.${name}`] }),
    // Null is the same as absent where it has no meaning of its own.
    ...(field.isOptional ? { anyOf: [schema, { type: 'null' }] } : schema),
  };
}
