/** Writes the page that lists every field of a recipe. */
import { resolveRecipe } from '@retrace/config';
import { isOptional, valueSchema } from './recipe-schema.mjs';

const INTRODUCTION = `# Every field of a recipe

A recipe is the whole configuration of a training run, as one JSON object. \`npx retrace recipes bandit-ppo > mine.json\` prints one to
start from, and \`--set path.to.field=value\` changes one field. Add the first line below to a recipe in the root of the repository, and
an editor that knows JSON Schema checks and completes it:

\`\`\`json
{
  "$schema": "./docs/reference/recipe.schema.json",
  "name": "mine"
}
\`\`\`

Fields that are not required may be left out. The last column is the value in \`frozen-lake-ppo\`, the
default recipe. Rules between fields (an estimator that needs a critic, a loss that doesn't fit a correction) are checked when the
recipe is read; [algorithms](../algorithms.md) names them. Lengths are in tokens, logprobs and KL in nats.

This page and [recipe.schema.json](recipe.schema.json) are made from \`libs/config/src/recipe\` by \`npm run reference\`.
`;

/** The page in Markdown: a section for each class, in the order in which a recipe reaches them. */
export function recipePage(classes) {
  return `${INTRODUCTION}\n${sections('Recipe', '', resolveRecipe('frozen-lake-ppo'), classes).join('\n')}`;
}

function sections(name, path, example, classes) {
  const { description, fields } = classes.get(name);
  const rows = fields.map((field) => row(field, example?.[field.name]));
  const own = [
    `## ${path ? `\`${path}\`` : 'The recipe'}\n`,
    `${description}\n`,
    '| field | value | meaning | default | frozen-lake-ppo |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ];
  const nested = fields.filter((field) => field.nested);
  return [
    ...own,
    ...nested.flatMap((field) => {
      const isArray = valueSchema(field).items !== undefined;
      const fieldPath = `${path ? `${path}.` : ''}${field.name}${isArray ? '[]' : ''}`;
      const value = example?.[field.name];
      return sections(field.nested, fieldPath, isArray ? value?.[0] : value, classes);
    }),
  ];
}

function row(field, example) {
  const { name, description, defaultValue, nested, orName } = field;
  const value = (nested && !orName) || example === undefined ? '' : code(JSON.stringify(example));
  const missing = isOptional(field) ? 'none' : 'required';
  const cells = [
    code(name),
    [valueText(valueSchema(field)), unitOf(field)].filter(Boolean).join(' '),
    description,
    defaultValue ? code(defaultValue) : missing,
    value,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The unit of a number's bounds: "tokens". */
export function unitOf({ rules }) {
  return rules.find(({ context }) => context?.unit)?.context.unit;
}

/** A value's type and range in words: "integer 1 to 128", "array, at least one, of …". */
function valueText({
  $ref,
  type,
  enum: values,
  minimum,
  maximum,
  minLength = 0,
  maxLength,
  minItems,
  maxItems,
  uniqueItems,
  items,
  anyOf,
}) {
  if (anyOf) return 'string, or an object, see below';
  if ($ref) return 'object, see below';
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ');
  if (type === 'array') {
    const rules = [
      minItems && 'not empty',
      maxItems && `at most ${maxItems}`,
      uniqueItems && 'no duplicates',
    ];
    const elements = items.$ref ? 'objects, see below' : valueText(items);
    return `array (${[...rules.filter(Boolean), `of ${elements}`].join(', ')})`;
  }
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${number(minimum)} to ${number(maximum)}`
      : minimum !== undefined && `at least ${number(minimum)}`;
  const length = maxLength && `${minLength} to ${number(maxLength)} characters`;
  return [type, length, range].filter(Boolean).join(', ');
}

function number(value) {
  return Math.abs(value) >= 1000 ? value.toLocaleString('en') : `${value}`;
}

function code(text) {
  return `\`${text}\``;
}
