/**
 * `node scripts/client-schemas.mjs`: writes the schemas of records into both clients, which make each record storable by them before
 * they send it, and the type of the tokens of a step into the TypeScript one. They are those of the API's document, without what only people read.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCUMENT = new URL('../apps/api/openapi.json', import.meta.url);
const SCHEMAS = {
  episode: 'EpisodeRecord',
  step: 'StepRecord',
  end: 'EndRecord',
  reward: 'RewardRecord',
  annotation: 'AnnotationRecord',
  runStart: 'StartRunRequest',
  runEnd: 'EndRunRequest',
};
const FOR_PEOPLE = new Set(['description', 'default', 'x-rule', 'examples']);

/** Each file with the text that it must have. */
export function clientSchemaFiles() {
  const { schemas } = JSON.parse(readFileSync(DOCUMENT, 'utf8')).components;
  const own = Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [name, withoutTexts(schemas[schema])]),
  );
  // A line for each schema.
  const lines = Object.entries(own).map(
    ([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
  );
  const json = `{\n${lines.join(',\n')}\n}`;
  return [
    {
      path: fileURLToPath(
        new URL('../clients/typescript/src/storable/record-schemas.generated.ts', import.meta.url),
      ),
      text: `// Written by scripts/client-schemas.mjs.\n/** Schemas of records and of requests about runs, as the API's document has them. */\nexport const RECORD_SCHEMAS = ${json};\n`,
    },
    {
      path: fileURLToPath(
        new URL('../clients/typescript/src/wire/step-tokens.generated.ts', import.meta.url),
      ),
      text: stepTokensType(schemas.StepRecord.properties.tokens),
    },
    {
      path: fileURLToPath(new URL('../clients/python/src/retrace/record_schemas.json', import.meta.url)),
      text: `${json}\n`,
    },
  ];
}

/** The TypeScript type of the tokens of a step. Null is left out: a field that is unknown is missing. */
function stepTokensType({ description, properties, required }) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `  /** ${schema.description} */\n  readonly ${name}${mark}: ${typeOf(schema)};\n`;
  });
  return `// Written by scripts/client-schemas.mjs.\n/** ${description} */\nexport interface StepTokens {\n${fields.join('')}}\n`;
}

function typeOf({ items, minimum, maximum }) {
  if (items === undefined) return minimum === 0 && maximum === 1 ? '0 | 1' : 'number';
  const element = items.type.includes('null') ? 'number | null' : typeOf(items);
  return element === 'number' ? 'readonly number[]' : `readonly (${element})[]`;
}

/** A schema without its texts, and with `nullable` for the type `null`. Names of properties are kept, whatever they are. */
function withoutTexts(schema) {
  const { type } = schema;
  const ofOneType = Array.isArray(type) ? { ...schema, type: type[0], nullable: true } : schema;
  const kept = Object.entries(ofOneType).filter(([keyword]) => !FOR_PEOPLE.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword === 'properties')
        return [
          keyword,
          Object.fromEntries(Object.entries(value).map(([name, own]) => [name, withoutTexts(own)])),
        ];
      if (keyword === 'anyOf') return [keyword, value.map(withoutTexts)];
      const isSchema =
        keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object');
      return [keyword, isSchema ? withoutTexts(value) : value];
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of clientSchemaFiles()) writeFileSync(path, text);
}
