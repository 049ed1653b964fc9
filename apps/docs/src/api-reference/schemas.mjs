/**
 * A JSON schema of the API's document, as far as it uses them.
 *
 * @typedef {Readonly<Record<string, any>>} Schema
 */

const REFERENCE = '#/components/schemas/';

/**
 * Writes the type of a value as Markdown: `list of [Update](updates#update)`, `integer from 1 to 500`.
 *
 * @param {Schema} schema
 * @param {(name: string) => string} addressOf where a named schema is documented
 * @returns {string}
 */
export function renderType(schema, addressOf) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(REFERENCE.length);
    return `[${name}](${addressOf(name)})`;
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return choices.map((each) => renderType(each, addressOf)).join(' or ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(' or ');
  const types = [schema.type ?? 'any'].flat();
  return types.map((type) => renderPlainType(type, schema, addressOf)).join(' or ');
}

function renderPlainType(type, schema, addressOf) {
  const { items, additionalProperties } = schema;
  if (type === 'array') return items === undefined ? 'list' : `list of ${renderType(items, addressOf)}`;
  if (type === 'object' && Object.keys(additionalProperties ?? {}).length > 0)
    return `object of ${renderType(additionalProperties, addressOf)}`;
  if (type === 'null') return '`null`';
  if (type === 'any') return 'any JSON';
  return `${type}${schema.format && type === 'string' ? ` (${schema.format})` : ''}${renderBounds(type, schema)}`;
}

function renderBounds(type, { minimum, maximum, minLength, maxLength }) {
  if (type === 'integer' || type === 'number') return between(minimum, maximum, '');
  return type === 'string' ? between(minLength === 0 ? undefined : minLength, maxLength, ' characters') : '';
}

function between(least, most, unit) {
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}${unit}`;
  if (least !== undefined) return ` of ${least}${unit} or more`;
  return most === undefined ? '' : ` of at most ${most}${unit}`;
}

/**
 * Lists the fields of an object, those of objects within it by their path (`tokens.ids`, `episodes[].id`).
 *
 * @param {Schema} schema of the object
 * @param {string} [prefix] path of the object
 * @returns {{ name: string, schema: Schema, isRequired: boolean }[]}
 */
export function listFields(schema, prefix = '') {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const own = { name, schema: field, isRequired: schema.required?.includes(key) ?? false };
    return [own, ...listFields(field, `${name}.`), ...listFields(field.items ?? {}, `${name}[].`)];
  });
}

/**
 * Finds the names of the schemas that a part of the document refers to, directly or by others, in order.
 *
 * @param {unknown} part
 * @param {Readonly<Record<string, Schema>>} schemas by name
 * @returns {readonly string[]}
 */
export function findSchemas(part, schemas) {
  const found = new Set();
  const look = (value) => {
    if (typeof value !== 'object' || value === null) return;
    const name = typeof value.$ref === 'string' ? value.$ref.slice(REFERENCE.length) : null;
    if (name !== null && !found.has(name)) {
      found.add(name);
      look(schemas[name]);
    }
    for (const [key, each] of Object.entries(value)) if (key !== 'example') look(each);
  };
  look(part);
  return [...found];
}

/** Escapes text for a cell of a table; what is in backticks stays as it is, but for bars. @param {string} text */
export function cell(text) {
  return prose(text.replaceAll('\n', ' ').replaceAll('|', '\\|'));
}

/** Escapes what Vue would read as an element or an expression; what is in backticks stays as it is. @param {string} text */
export function prose(text) {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replaceAll('<', '&lt;').replaceAll('{{', '{ {') : part))
    .join('`');
}

/** @param {unknown} value of JSON */
export function code(value) {
  return `\`${JSON.stringify(value).replace(/^"(.*)"$/, '$1')}\``;
}
