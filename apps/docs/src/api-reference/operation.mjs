import { cell, code, listFields, prose, renderType } from './schemas.mjs';

const SERVER = 'http://127.0.0.1:8787';
const JSON_TYPE = 'application/json';
/** Answers that are longer are folded. */
const SHOWN_LINES = 30;

/**
 * An operation of the API's document, with its place.
 *
 * @typedef {{ readonly method: string, readonly path: string, readonly operation: Readonly<Record<string, any>> }} Operation
 */

/**
 * Writes an operation as Markdown: what it does, its parameters, body and answers, with a command that asks for it.
 *
 * @param {Operation} operation
 * @param {(name: string) => string} addressOf where a named schema is documented
 * @returns {string}
 */
export function renderOperation({ method, path, operation }, addressOf) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const scope = operation['x-scope'];
  return [
    `## \`${method.toUpperCase()} ${path}\``,
    `${prose(summary)}.`,
    description === undefined ? '' : prose(description),
    scope === undefined ? '' : `Where the server needs keys: one with the scope ${code(scope)}.`,
    renderParameters(parameters, addressOf),
    renderBody(requestBody, addressOf),
    `\`\`\`sh\n${renderCurl(method, path, operation)}\n\`\`\``,
    ...Object.entries(responses)
      .filter(([status]) => status !== 'default')
      .map(([status, response]) => renderAnswer(status, response, addressOf)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderParameters(parameters, addressOf) {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, schema, description = '' }) => [
    `\`${name}\``,
    `${place}${required ? ', required' : ''}`,
    renderType(schema, addressOf),
    `${description}${renderDefault(schema)}`,
  ]);
  return renderTable(['parameter', 'in', 'type', 'meaning'], rows);
}

function renderBody(body, addressOf) {
  if (body === undefined) return '';
  const types = Object.entries(body.content).map(
    ([type, { schema }]) => `\`${type}\`: ${cell(schema.description ?? renderType(schema, addressOf))}`,
  );
  return `Body: ${types.join('; ')}.${body.description === undefined ? '' : ` ${cell(body.description)}.`}`;
}

/**
 * Writes the command that asks for an operation with its example.
 *
 * @param {string} method
 * @param {string} path
 * @param {Readonly<Record<string, any>>} operation
 * @returns {string}
 */
export function renderCurl(method, path, { parameters = [], requestBody }) {
  const required = parameters.filter((each) => each.required);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    exampleOf(required.find((each) => each.in === 'path' && each.name === name)),
  );
  const query = required
    .filter((each) => each.in === 'query')
    .map((each) => `${each.name}=${encodeURIComponent(exampleOf(each))}`);
  const example = requestBody?.content[JSON_TYPE]?.example;
  const hasDefaultMethod = method === (example === undefined ? 'get' : 'post');
  const address = `${SERVER}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return [
    `curl -s ${hasDefaultMethod ? '' : `-X ${method.toUpperCase()} `}${quote(address)}`,
    ...(example === undefined
      ? []
      : [
          `-H 'content-type: ${JSON_TYPE}'`,
          `-d '${JSON.stringify(example, null, 2).replaceAll("'", `'\\''`)}'`,
        ]),
  ].join(' \\\n  ');
}

function exampleOf(parameter) {
  const { example, schema } = parameter;
  return `${example ?? schema.example ?? schema.examples?.[0] ?? schema.enum?.[0] ?? schema.minimum ?? `<${parameter.name}>`}`;
}

function quote(word) {
  return /[<>&?*$ ]/.test(word) ? `'${word}'` : word;
}

function renderAnswer(status, { description, content = {} }, addressOf) {
  const said = Object.entries(content).map(
    ([type, { schema }]) => `\`${type}\`, ${renderType(schema, addressOf)}`,
  );
  const note = description ? ` ${cell(description)}.` : '';
  const own = Object.values(content).map(({ schema }) =>
    schema.properties ? renderFields(schema, addressOf) : '',
  );
  const example = Object.values(content).find((each) => each.example !== undefined)?.example;
  return [
    `Answer ${status}${said.length > 0 ? `: ${said.join('; ')}` : ''}.${note}`,
    ...own,
    example === undefined ? '' : renderExample(status, example),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderExample(status, example) {
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  const block = `\`\`\`${typeof example === 'string' ? 'text' : 'json'}\n${text.trimEnd()}\n\`\`\``;
  return text.split('\n').length > SHOWN_LINES
    ? `::: details Example of answer ${status}\n${block}\n:::`
    : block;
}

/**
 * Writes the fields of an object as a table.
 *
 * @param {Readonly<Record<string, any>>} schema of the object
 * @param {(name: string) => string} addressOf where a named schema is documented
 * @returns {string} empty where it has none
 */
export function renderFields(schema, addressOf) {
  const rows = listFields(schema).map(({ name, schema: field, isRequired }) => [
    `\`${name}\`${isRequired ? '' : ', optional'}`,
    renderType(field, addressOf),
    `${field.description ?? ''}${renderDefault(field)}`,
  ]);
  return rows.length === 0 ? '' : renderTable(['field', 'type', 'meaning'], rows);
}

function renderDefault({ default: value }) {
  return value === undefined ? '' : ` (default ${code(value)})`;
}

function renderTable(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map((row) => line(row.map(cell)))].join('\n');
}
