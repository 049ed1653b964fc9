/** Writes the page that lists every field of a recipe. */
import { resolveRecipe } from '@retrace/config';
import { isRequired, valueSchema } from './recipe-schema.mjs';

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

One rule holds for all fields. A field that is absent has its default; only fields without a sensible default are required. Null turns a
feature off, or where the text says so follows another field; where it says nothing of null, null is the same as absent, and where the default is
"never null", null is refused. The last column is the value in \`frozen-lake-ppo\`, the default recipe. Rules between fields (an estimator that needs a critic, a loss that doesn't fit a correction) are checked when the
recipe is read; [algorithms](../algorithms.md) names them. Lengths are in tokens, logprobs and KL in nats.

The sections are in the order in which one reads a paper: task, policy, rollout, reward, advantage, loss, optimizer, evaluation, and then how
it is computed. Fields for experts (limits, timeouts, sizes of buffers, numerical guards, and what is filled in when a run begins) are folded at the
end of each section. \`retrace recipes X\` leaves them out while they have their default; \`--all\` prints them too.

The KL was once six fields of \`loss\`. Files with \`klCoefficient\`, \`klIn\`, \`klEstimator\`, \`klStraightThrough\`, \`klBiasCorrection\` and \`adaptiveKl\` are
read as ever: they are \`coefficient\`, \`in\`, \`estimator\`, \`straightThrough\`, \`biasCorrection\` and \`adaptive\` of \`loss.kl\`.

This page and [recipe.schema.json](recipe.schema.json) are made from \`libs/config/src/recipe\` by \`npm run reference\`.
`;

/** The sections of the page, with the recipe's fields that each one has. */
const SECTIONS = [
  {
    title: 'The run',
    fields: ['name', 'description', 'seed', 'numUpdates', 'epochs'],
    words:
      'What the run is called, and how long it trains. Equal recipe, seed and code give equal results in synchronous training.',
  },
  {
    title: 'Task and environment',
    fields: ['environment', 'tasks'],
    words:
      'What the policy has to do. The environment plays a task; where tasks come from files, each row is one.',
  },
  {
    title: 'Policy',
    fields: ['model', 'policy', 'initFrom'],
    words:
      'The model that is trained. A small one is made from random weights (`model`), an existing one is read from a directory (`policy`), and both may start from the weights of another run (`initFrom`).',
  },
  {
    title: 'Rollout',
    fields: ['context', 'agent', 'collection'],
    words:
      'How an episode is played: how its text becomes tokens, which prompt the model reads, and how many episodes a round has. Turns are sampled in the collector, or by servers (`collection.endpoint`).',
  },
  {
    title: 'Data',
    fields: ['data', 'sampler'],
    words:
      'Which groups of episodes an update is trained on. Without either field these are the ones just collected, each once.',
  },
  {
    title: 'Reward',
    fields: ['reward'],
    words:
      'What an episode is worth. The total is a weighted sum of components, and `allocation` says which tokens get it.',
  },
  {
    title: 'Advantage',
    fields: ['advantage'],
    words:
      'How rewards become the advantage of each action token. The estimator decides whether that takes groups, a critic, or neither.',
  },
  {
    title: 'Loss',
    fields: ['loss', 'preference', 'distillation'],
    words:
      'What an update minimizes: the policy loss, with entropy, value and KL terms and corrections for data of other policies. Pairs of episodes (`preference`) or a teacher (`distillation`) take the place of advantages.',
  },
  {
    title: 'Optimizer',
    fields: ['optimizer', 'imitation'],
    words:
      'How the weights are changed: AdamW, its schedule, and the cut into mini-batches. Imitation of a scripted agent may come first.',
  },
  {
    title: 'Evaluation',
    fields: ['evaluation'],
    words:
      'Episodes that measure the policy and are never trained on. Validation runs during training, the test after the last update.',
  },
  {
    title: 'Engine and processes',
    fields: ['engine', 'compute', 'process'],
    words:
      "What computes, and where. These fields change speed and memory, and results by no more than rounding, which in 16 bits (`engine.precision`, `compute.matMulPrecision`) is coarse; `engine` and `process` are no part of a recipe's hash.",
  },
  {
    title: 'Checkpoints and monitors',
    fields: ['checkpoint', 'monitors', 'updateTokens'],
    words: 'What is kept of a run, and what watches it. None of it changes what is learned.',
  },
];

/** The page in Markdown: the sections of a paper, and in each the classes in the order in which a recipe reaches them. */
export function recipePage(classes) {
  const fields = new Map(classes.get('Recipe').fields.map((field) => [field.name, field]));
  const listed = SECTIONS.flatMap((section) => section.fields);
  const missing = [...fields.keys()].filter((name) => !listed.includes(name));
  if (missing.length > 0) throw new Error(`recipe-page.mjs: no section has ${missing.join(', ')}`);
  const example = resolveRecipe('frozen-lake-ppo');
  const sections = SECTIONS.flatMap(({ title, words, fields: names }) => {
    const own = names.map((name) => fields.get(name));
    return [
      `## ${title}\n`,
      `${words}\n`,
      ...tables(own, example),
      ...nestedSections(own, { path: '', example, classes }),
    ];
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

/** Sections of the objects in some fields; those in a field for experts are for experts as a whole. */
function nestedSections(fields, { path, example, classes }) {
  return fields
    .filter((field) => field.nested)
    .flatMap((field) => {
      const isArray = valueSchema(field).items !== undefined;
      const fieldPath = `${path ? `${path}.` : ''}${field.name}${isArray ? '[]' : ''}`;
      const value = isArray ? example?.[field.name]?.[0] : example?.[field.name];
      const { description, fields: own } = classes.get(field.nested);
      const inner = own.map((one) => ({ ...one, isAdvanced: one.isAdvanced || field.isAdvanced }));
      return [
        `### \`${fieldPath}\`\n`,
        `${description}\n`,
        ...tables(inner, value),
        ...nestedSections(inner, { path: fieldPath, example: value, classes }),
      ];
    });
}

/** The table of the fields that every reader meets, and a folded one of those for experts. */
function tables(fields, example) {
  const [readers, experts] = [false, true].map((isAdvanced) =>
    fields.filter((field) => field.isAdvanced === isAdvanced),
  );
  const folded = [
    '<details>',
    '<summary>Fields for experts</summary>\n',
    ...table(experts, example),
    '</details>\n',
  ];
  return [...(readers.length > 0 ? table(readers, example) : []), ...(experts.length > 0 ? folded : [])];
}

function table(fields, example) {
  return [
    '| field | value | meaning | default | frozen-lake-ppo |',
    '|---|---|---|---|---|',
    ...fields.map((field) => row(field, example?.[field.name])),
    '',
  ];
}

function row(field, example) {
  const { name, description, nested, orName } = field;
  const value = (nested && !orName) || example === undefined ? '' : code(JSON.stringify(example));
  const cells = [
    code(name),
    [valueText(valueSchema(field)), unitOf(field)].filter(Boolean).join(' '),
    description,
    defaultText(field),
    value,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The default; a field without `@IsOptional` has it in its class, which takes no null in its place. */
function defaultText(field) {
  const { defaultValue, isOptional } = field;
  if (defaultValue) return isOptional ? code(defaultValue) : `${code(defaultValue)}, never null`;
  return isRequired(field) ? 'required' : 'none';
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
